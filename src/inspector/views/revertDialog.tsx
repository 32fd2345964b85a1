import { useState } from 'preact/hooks'
import type { RevertCategory } from '../../protocol/braking.ts'
import { tagKinds } from '../../protocol/tagKinds.ts'
import type { NodeId } from '../../protocol/ids.ts'
import { formatNodeId } from '../../protocol/nodeIds.ts'
import type { Inspector } from '../model/inspector.ts'
import { counted } from '../../charts/amounts.ts'
import type { FollowedAgent } from '../model/followedAgent.ts'
import { AskDialog } from './askDialog.tsx'

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

/** A person's revert: what comes after a step leaves the trunk, and a note stays in its place. */
export function RevertDialog({ node, ...rest }: RevertDialogProps) {
  const [category, setCategory] = useState<RevertCategory>('failure')
  const trunk = rest.view.state.value.conversation.trunk()
  const left = trunk.length - 1 - trunk.findIndex(({ id }) => id === node)
  const step = formatNodeId(node)
  const [undo, setUndo] = useState(false)
  const choice = (
    <>
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
      <label class="field is-check">
        <input type="checkbox" checked={undo} onChange={({ currentTarget }) => setUndo(currentTarget.checked)} />
        <span>Undo what its calls did, as far as their tools can</span>
      </label>
    </>
  )
  return (
    <AskDialog
      {...rest}
      title={`Go back to ${step}`}
      fields={choice}
      label={`The ${tagKinds[category]} the model will read`}
      empty="Empty: a summary is made"
      verb="Revert"
      ask={(agent, summary) => agent.revert(step, { category, summary, ...(undo ? { undo } : {}) })}
      answerOf={(record) => (record.type === 'revert.applied' && record.requested === step ? record : undefined)}
    >
      The model will not see the {counted(left, 'message')} after it any more; the log keeps{' '}
      {left === 1 ? 'it' : 'them'}.{' '}
      {undo ? 'The note says what was undone, and what was not.' : 'Files are not restored.'}
    </AskDialog>
  )
}
