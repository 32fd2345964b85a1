import { useMemo, useState } from 'preact/hooks'
import { counted } from '../../../../../charts/src/amounts.ts'
import { previewPrune, previewRevert } from '../../model/conversation/reshapePreview.ts'
import type { RevertCategory } from '../../../../../../src/protocol/braking.ts'
import { tagKinds } from '../../../../../../src/protocol/text/tagKinds.ts'
import type { NodeId } from '../../../../../../src/protocol/ids.ts'
import { formatNodeId } from '../../../../../../src/protocol/text/nodeIds.ts'
import type { UndoPlan } from '../../../../../../src/protocol/undo.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import type { FollowedAgent } from '../../model/agent/followedAgent.ts'
import { forDisplay } from '../../model/words/shortText.ts'
import { AskDialog } from '../../parts/askDialog.tsx'
import { Freed, LeavingList } from './leavingList.tsx'

const categories: Readonly<Record<RevertCategory, string>> = {
  failure: 'Failure: leave a lesson',
  tangent: 'Tangent: leave a finding',
  completion: 'Completed: leave the outcome',
  'step-summary': 'Long: leave a checkpoint',
}

export interface RevertDialogProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
  readonly node: NodeId
  readonly onClose: () => void
}

/** Dialog for a person's revert: the steps after a step leave the trunk, and a note stays in their place. */
export function RevertDialog({ node, ...rest }: RevertDialogProps) {
  const [category, setCategory] = useState<RevertCategory>('failure')
  const [undo, setUndo] = useState(false)
  const { conversation, lastSeq } = rest.view.state.value
  const step = formatNodeId(node)
  // The conversation is one object that grows.
  const preview = useMemo(
    () => previewRevert(conversation, { step, category, ...(undo ? { undo } : {}) }),
    [conversation, lastSeq, step, category, undo],
  )
  const isKnown = typeof preview !== 'string'
  const messages = counted(isKnown ? preview.nodes.length : 0, 'message')
  const fields = (
    <>
      {isKnown ? <LeavingList nodes={preview.nodes} /> : null}
      <label class="field">
        <span>Why</span>
        <select
          class="input"
          value={category}
          onChange={({ currentTarget }) => setCategory(currentTarget.value as RevertCategory)}
        >
          {Object.entries(categories).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <div>
        <label class="field is-check">
          <input
            type="checkbox"
            checked={undo}
            aria-describedby="undo-words"
            onChange={({ currentTarget }) => setUndo(currentTarget.checked)}
          />
          <span>Undo the effects of its calls where possible</span>
        </label>
        <div id="undo-words">{isKnown ? <UndoWords plan={preview.undo} isAsked={undo} /> : null}</div>
      </div>
    </>
  )
  return (
    <AskDialog
      {...rest}
      title={`Go back to ${step}`}
      fields={fields}
      whyNot={isKnown ? undefined : preview.replace(/^revert refused: /, '')}
      label={`The ${tagKinds[category]} the model will read`}
      empty="Optional: left empty, a summary is generated"
      verb={isKnown ? `Abandon ${messages}` : 'Abandon'}
      ask={(agent, summary) => agent.revert(step, { category, summary, ...(undo ? { undo } : {}) })}
      answerOf={(record) => (record.type === 'revert.applied' && record.requested === step ? record : undefined)}
    >
      {isKnown ? (
        <>
          The {messages} after it will be hidden from the model and kept in the log. <Freed {...preview} left="note" />
          {preview.users === 0
            ? null
            : ` ${preview.users} of them came from people: the agent refuses unless it is configured to repeat them.`}
        </>
      ) : null}
    </AskDialog>
  )
}

/** Calls that an undo would take back, and those that it would leave. */
function UndoWords({ plan: { calls, kept }, isAsked }: { readonly plan: UndoPlan; readonly isAsked: boolean }) {
  // The oldest first, as people read.
  const things = [...new Set(calls.map(({ what }) => what).toReversed())]
  if (things.length === 0 && kept.length === 0) return <p class="muted">There is nothing to undo.</p>
  return (
    <>
      {things.length === 0 ? null : (
        <UndoList title={isAsked ? 'Will be undone' : 'Stays unless you undo it'} things={things} />
      )}
      {kept.length === 0 ? null : (
        <UndoList title="Cannot be undone" things={kept.map(({ what, why }) => `${what}: ${why}`)} />
      )}
      {isAsked ? <p class="muted undo-things">The note tells the model what was undone and what was not.</p> : null}
    </>
  )
}

/** Limit of the listed calls; further calls are only counted. */
const mostThings = 100

const UndoList = ({ title, things }: { readonly title: string; readonly things: readonly string[] }) => (
  <div class="undo-things">
    <p class="muted">
      {title} <span class="number">({things.length})</span>
    </p>
    <ul class="leaving-steps scroll" tabIndex={0} aria-label={title}>
      {things.slice(0, mostThings).map((thing) => (
        <li key={thing}>
          <span class="leaving-words mono">{forDisplay(thing)}</span>
        </li>
      ))}
      {things.length > mostThings ? <li class="muted">and {things.length - mostThings} more</li> : null}
    </ul>
  </div>
)

/** Dialog for a person's prune: a step is hidden from the model, and a memo takes its place. */
export function PruneDialog({ node, ...rest }: RevertDialogProps) {
  const { conversation, lastSeq } = rest.view.state.value
  const step = formatNodeId(node)
  // The conversation is one object that grows.
  const preview = useMemo(() => previewPrune(conversation, { step }), [conversation, lastSeq, step])
  const isKnown = typeof preview !== 'string'
  return (
    <AskDialog
      {...rest}
      title={`Hide ${step}`}
      fields={isKnown ? <LeavingList nodes={preview.nodes} /> : null}
      whyNot={isKnown ? undefined : preview.replace(/^prune refused: /, '')}
      label="Memo for the model"
      empty="Optional"
      verb={isKnown ? `Hide ${counted(preview.nodes.length, 'message')}` : 'Hide'}
      ask={(agent, memo) => agent.prune({ steps: [step], memo })}
      answerOf={(record) => (record.type === 'prune.applied' && record.by !== 'runtime' ? record : undefined)}
    >
      The step and its results will be hidden from the model and kept in the log.{' '}
      {isKnown ? <Freed {...preview} left="memo" /> : null}
    </AskDialog>
  )
}
