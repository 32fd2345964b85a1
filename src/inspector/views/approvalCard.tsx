import { useMemo, useState } from 'preact/hooks'
import type { PendingOf } from '../../protocol/pending.ts'
import { readTyped } from '../../protocol/questionForm.ts'
import type { Inspector } from '../model/inspector.ts'
import { ControlButton } from '../parts/controlButton.tsx'
import { editOf } from '../../text/edits.ts'
import { DiffView } from '../parts/diffView.tsx'
import { CutText } from '../parts/cutText.tsx'
import { useDraft } from './useDraft.ts'
import { WhoAsks } from './whoAsks.tsx'

interface ApprovalProps {
  readonly inspector: Inspector
  /** The agent that is told: its own, or one above it. */
  readonly via: string
  readonly approval: PendingOf<'approval'>
}

/** What is typed: a reason, and the arguments as JSON while they are edited. */
interface Draft {
  readonly reason: string
  readonly edited: string | null
}

const none: Draft = { reason: '', edited: null }

const shown = (input: unknown): string => (typeof input === 'string' ? input : (JSON.stringify(input, null, 2) ?? ''))

/** A call that waits for approval; its arguments can be edited before. */
export function ApprovalCard({ inspector, via, approval }: ApprovalProps) {
  const [problem, setProblem] = useState('')
  const { name, input, key, agentId } = approval
  const hasChanged = (text: string | null): text is string => text !== null && text !== shown(input)
  const isAny = (draft: Draft): boolean => draft.reason.trim() !== '' || hasChanged(draft.edited)
  const [{ reason, edited }, change] = useDraft(inspector, key, { none, isAny })
  const edit = useMemo(() => editOf(name, input), [name, input])
  const why = inspector.whyNotApprove.value
  const agent = () => inspector.attached.value.connection.client.agent(via)
  const deny = (): void => {
    const said = reason.trim()
    void inspector.attempt(() => agent().decide(key, 'deny', said === '' ? undefined : said))
  }
  const approve = (): void => {
    const said = reason.trim() === '' ? {} : { reason: reason.trim() }
    if (!hasChanged(edited)) return void inspector.attempt(() => agent().decide(key, 'approve', said))
    const read = readTyped({ type: 'json' }, edited)
    setProblem('problem' in read ? 'The arguments are not JSON.' : '')
    if ('value' in read) void inspector.attempt(() => agent().decide(key, 'approve', { ...said, input: read.value }))
  }
  return (
    <article class="approval" aria-label={`${name} waits for approval`}>
      <div class="approval-what">
        <p>
          May <strong class="mono">{name}</strong> run
          <WhoAsks via={via} agentId={agentId} />?
        </p>
        {edited === null ? (
          edit === undefined ? (
            <CutText text={shown(input)} most={800} />
          ) : (
            <DiffView edit={edit} lines={6} />
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
        <ControlButton why={why} onUse={approve} kind="primary">
          Approve
        </ControlButton>
      </div>
    </article>
  )
}
