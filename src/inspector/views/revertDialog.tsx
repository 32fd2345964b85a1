import { useEffect, useState } from 'preact/hooks'
import { tagKinds, type RevertCategory } from '../../protocol/braking.ts'
import { formatNodeId, type NodeId } from '../../protocol/ids.ts'
import type { LogRecord, RecordOf } from '../../protocol/records.ts'
import type { Inspector } from '../model/inspector.ts'
import { counted } from '../../charts/amounts.ts'
import type { FollowedAgent } from '../model/followedAgent.ts'
import { Dialog } from '../parts/dialog.tsx'

const categories: Readonly<Record<RevertCategory, string>> = {
  failure: 'It failed: leave a lesson',
  tangent: 'It led elsewhere: leave a finding',
  completion: 'It is done: leave the outcome',
  'step-summary': 'It is long: leave a checkpoint',
}

export interface RevertDialogProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
  readonly node: NodeId
  readonly onClose: () => void
}

/** What came of a revert to a step, in the records after one. */
function outcomeAfter(
  records: readonly LogRecord[],
  seq: number,
  step: string,
): RecordOf<'revert.applied'> | undefined {
  const later = records.slice(seq)
  return later.findLast((record) => record.type === 'revert.applied' && record.requested === step) as
    | RecordOf<'revert.applied'>
    | undefined
}

/** A person's revert: what comes after a step leaves the trunk, and a note stays in its place. */
export function RevertDialog({ inspector, view, node, onClose }: RevertDialogProps) {
  const [category, setCategory] = useState<RevertCategory>('failure')
  const [summary, setSummary] = useState('')
  /** `seq` of the last record when it was asked for; what came of it is after that. */
  const [askedAt, setAskedAt] = useState<number | null>(null)
  const { records, conversation } = view.state.value
  const outcome = askedAt === null ? undefined : outcomeAfter(records, askedAt, formatNodeId(node))
  const isDone = outcome?.applied === true
  useEffect(() => {
    if (isDone) onClose()
  }, [isDone])
  const trunk = conversation.trunk()
  const left = trunk.length - 1 - trunk.findIndex(({ id }) => id === node)
  const revert = async (): Promise<void> => {
    const agent = inspector.attached.value.connection.client.agent(view.agentId)
    const text = summary.trim()
    setAskedAt(records.length)
    const isAsked = await inspector.attempt(() =>
      agent.revert(formatNodeId(node), { category, summary: text === '' ? undefined : text }),
    )
    if (!isAsked) setAskedAt(null)
  }
  return (
    <Dialog title={`Go back to ${formatNodeId(node)}`} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void revert()
        }}
      >
        <p class="muted">
          The model will not see the {counted(left, 'message')} after it any more; the log keeps{' '}
          {left === 1 ? 'it' : 'them'}. Files are not restored.
        </p>
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
        <label class="field">
          <span>The {tagKinds[category]} the model will read</span>
          <textarea
            class="input"
            rows={4}
            value={summary}
            placeholder="Empty: a summary is made"
            onInput={({ currentTarget }) => setSummary(currentTarget.value)}
          />
        </label>
        {askedAt === null ? null : <Outcome outcome={outcome} />}
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            {askedAt === null ? 'Cancel' : 'Close'}
          </button>
          <button type="submit" class="button primary" disabled={askedAt !== null && outcome === undefined}>
            Revert
          </button>
        </div>
      </form>
    </Dialog>
  )
}

function Outcome({ outcome }: { readonly outcome: RecordOf<'revert.applied'> | undefined }) {
  if (outcome === undefined) return <p role="status">Asked for. The agent does it between turns.</p>
  if (outcome.applied) return null
  return (
    <p class="problem" role="alert">
      It was refused: {outcome.reason ?? 'no reason was given'}
    </p>
  )
}
