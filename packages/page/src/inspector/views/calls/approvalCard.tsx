import { useMemo, useState } from 'preact/hooks'
import type { PendingOf } from '../../../../../../src/protocol/runs/pending.ts'
import type { GrantScope } from '../../../../../../src/protocol/parts/permissions/permissionRecords.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { ControlButton } from '../../parts/controlButton.tsx'
import { callInFull } from '../../../../../charts/src/text/callInFull.ts'
import { besideEdit, editOf, hidesNothing, type FileEdit } from '../../../../../charts/src/text/edits.ts'
import { DiffView, isSeenWhole, mostLines } from '../../parts/diffView.tsx'
import { useDraft } from './useDraft.ts'
import { WhoAsks } from './whoAsks.tsx'

export interface ApprovalProps {
  readonly inspector: Inspector
  /** Id of the agent that receives the decision: the call's own agent, or one above it. */
  readonly via: string
  readonly approval: PendingOf<'approval'>
}

/** Unsent input: a reason, and the arguments as JSON while they are edited. */
interface Draft {
  readonly reason: string
  readonly edited: string | null
}

const none: Draft = { reason: '', edited: null }

const shown = (input: unknown): string => (typeof input === 'string' ? input : (JSON.stringify(input, null, 2) ?? ''))

/** Returns the edit of a call if its lines show all of its texts. */
function wholeEdit(name: string, input: unknown): FileEdit | undefined {
  const edit = editOf(name, input, Infinity)
  return edit !== undefined && hidesNothing(name, input, edit) && isSeenWhole(edit) ? edit : undefined
}

/** A call that waits for approval, in full; its arguments can be edited before it runs. */
export function ApprovalCard({ inspector, via, approval }: ApprovalProps) {
  const [problem, setProblem] = useState('')
  const { name, input, key, agentId, irreversible, suggest = [] } = approval
  const [rule, choose] = useState(suggest[0])
  const hasChanged = (text: string | null): text is string => text !== null && text !== shown(input)
  const isAny = (draft: Draft): boolean => draft.reason.trim() !== '' || hasChanged(draft.edited)
  const [{ reason, edited }, change] = useDraft(inspector, key, { none, isAny })
  const edit = useMemo(() => wholeEdit(name, input), [name, input])
  const why = inspector.whyNotApprove.value
  const may = inspector.attached.value.connection.may.value
  const isEdited = hasChanged(edited) ? 'The arguments were edited: approve it once.' : null
  const whyNotAdd = why ?? isEdited ?? (may('control') ? null : 'Adding a rule needs the right "control".')
  const hasStore = inspector.agent.value?.state.value.permissions?.hasStore !== false
  const whyNotAlways =
    whyNotAdd ??
    (!hasStore ? 'The agent has no store of rules.' : may('permit') ? null : 'This needs the right "permit".')
  const agent = () => inspector.attached.value.connection.client.agent(via)
  const deny = (): void => {
    const said = reason.trim()
    void inspector.attempt(() => agent().decide(key, 'deny', said === '' ? undefined : said))
  }
  const grant = (scope: GrantScope): void =>
    void inspector.attempt(() => agent().decide(key, 'approve', { grant: { rule: rule!, scope } }))
  const approve = (): void => {
    const said = reason.trim() === '' ? {} : { reason: reason.trim() }
    if (!hasChanged(edited)) return void inspector.attempt(() => agent().decide(key, 'approve', said))
    try {
      const wanted = JSON.parse(edited) as unknown
      setProblem('')
      void inspector.attempt(() => agent().decide(key, 'approve', { ...said, input: wanted }))
    } catch {
      setProblem('The arguments are not valid JSON.')
    }
  }
  return (
    <article class="approval" aria-label={`${name} waits for approval`}>
      <div class="approval-what">
        <p>
          Run <strong class="mono">{name}</strong>
          <WhoAsks via={via} agentId={agentId} />?{' '}
          {irreversible ? <span class="badge warn">cannot be undone</span> : null}
        </p>
        {edited === null ? (
          edit === undefined ? (
            <pre class="text" tabIndex={0} aria-label={`Arguments of ${name}, in full`}>
              {callInFull(input).join('\n')}
            </pre>
          ) : (
            <>
              <DiffView edit={edit} lines={mostLines} />
              {edit.endings.map((ending) => (
                <p class="muted" key={ending}>
                  {ending}
                </p>
              ))}
              <Beside name={name} input={input} />
            </>
          )
        ) : (
          <textarea
            class="input mono"
            rows={4}
            aria-label={`Arguments of ${name}`}
            value={edited}
            onInput={({ currentTarget }) => change({ edited: currentTarget.value })}
          />
        )}
        {problem === '' ? null : <p role="alert">{problem}</p>}
      </div>
      <div class="approval-answer">
        <input
          class="input"
          dir="auto"
          aria-label={`Reason, for ${name}`}
          placeholder="Reason (optional)"
          value={reason}
          onInput={({ currentTarget }) => change({ reason: currentTarget.value })}
        />
        <ControlButton why={why} onUse={() => change({ edited: edited === null ? shown(input) : null })}>
          {edited === null ? 'Edit' : 'Undo edit'}
        </ControlButton>
        <ControlButton why={why} onUse={deny} kind="danger">
          Deny
        </ControlButton>
        {rule === undefined ? null : (
          <>
            <select
              class="input mono"
              aria-label={`Rule to add, for ${name}`}
              value={rule}
              onChange={({ currentTarget }) => choose(currentTarget.value)}
            >
              {suggest.map((one) => (
                <option key={one} value={one}>
                  {one}
                </option>
              ))}
            </select>
            <ControlButton why={whyNotAdd} onUse={() => grant('session')}>
              For this session
            </ControlButton>
            <ControlButton why={whyNotAlways} onUse={() => grant('always')}>
              Always
            </ControlButton>
          </>
        )}
        <ControlButton why={why} onUse={approve} kind="primary">
          {rule === undefined ? 'Approve' : 'Approve once'}
        </ControlButton>
      </div>
    </article>
  )
}

/** The arguments of an edit that its lines do not show, such as `all: true`. */
function Beside({ name, input }: Pick<PendingOf<'approval'>, 'name' | 'input'>) {
  const beside = besideEdit(name, input)
  return Object.keys(beside).length === 0 ? null : (
    <pre class="text" tabIndex={0} aria-label={`Further arguments of ${name}`}>
      {callInFull(beside).join('\n')}
    </pre>
  )
}
