import type { JSX } from 'preact'
import type { PruneOutcome } from '../../protocol/braking.ts'

/** Says of a row that the model does not see it, and why. */
export const PrunedBadge = ({ pruned }: { readonly pruned: PruneOutcome }): JSX.Element =>
  pruned.by === 'runtime' ? <span class="badge">folded</span> : <span class="badge warn">pruned</span>
