import { useMemo } from 'preact/hooks'
import type { ConversationNode } from '../../../../../../src/conversation/tree/node.ts'
import { formatNodeId } from '../../../../../../src/protocol/text/nodeIds.ts'
import { leavingSteps } from '../../model/conversation/leavingSteps.ts'
import { formatCompact, formatCount } from '../../model/words/numbers.ts'

/** Limit of the steps that are listed; further steps are only counted. */
const mostSteps = 200
/** Number of steps that are shown at first. */
const fewSteps = 4

/** The steps that leave the model's sight. */
export function LeavingList({ nodes }: { readonly nodes: readonly ConversationNode[] }) {
  const { steps, total, words } = useMemo(() => leavingSteps(nodes, mostSteps), [nodes])
  return (
    <details class="leaving" open={total <= fewSteps}>
      <summary>{words}</summary>
      <ul class="leaving-steps scroll" tabIndex={0} aria-label="Removed steps">
        {steps.map(({ id, words: said, isBad }) => (
          <li key={id}>
            <span class="mono faint">{formatNodeId(id)}</span> <bdi class="leaving-words">{said}</bdi>
            {isBad ? <span class="badge bad">failed</span> : null}
          </li>
        ))}
        {total > steps.length ? <li class="muted">and {formatCount(total - steps.length)} more</li> : null}
      </ul>
    </details>
  )
}

export interface FreedProps {
  /** Estimated tokens that the change frees. */
  readonly freed: number
  readonly tokens: number
  /** Word for the text that replaces the steps: `note`, `memo`. */
  readonly left: string
}

/** Describes the tokens that a change of the trunk frees. */
export const Freed = ({ freed, tokens, left }: FreedProps) =>
  freed > 0 ? (
    <>
      It frees about <strong class="number">{formatCompact(freed)}</strong> of {formatCompact(tokens)} tokens, minus the{' '}
      {left}.
    </>
  ) : (
    <>
      <strong>It frees nothing</strong>: the {left} takes as much space as the removed steps.
    </>
  )
