import type { JSX } from 'preact'
import type { PruneOutcome } from '../../../../../src/protocol/braking.ts'

/** Says of a row that the model does not see it, and why. */
export const PrunedBadge = ({ pruned: { by, policy } }: { readonly pruned: PruneOutcome }): JSX.Element => (
  <span class={by === 'runtime' ? 'badge' : 'badge warn'} title={policyTitle(policy)}>
    {by === 'runtime' ? 'folded' : 'pruned'}
  </span>
)

/** Says of a badge which policy it comes from, if it comes from one. */
export const policyTitle = (policy: string | undefined): string | undefined =>
  policy === undefined ? undefined : `By policy ${policy}`
