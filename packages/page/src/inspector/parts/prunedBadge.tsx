import type { JSX } from 'preact'
import type { PruneOutcome } from '../../../../../src/protocol/braking.ts'

/** Badge of a row that the model does not see, with the reason. */
export const PrunedBadge = ({ pruned: { by, policy } }: { readonly pruned: PruneOutcome }): JSX.Element => (
  <span class={by === 'runtime' ? 'badge' : 'badge warn'} title={policyTitle(policy)}>
    {by === 'runtime' ? 'folded' : 'pruned'}
  </span>
)

/** Returns the tooltip of a badge that comes from a policy; `undefined` for another badge. */
export const policyTitle = (policy: string | undefined): string | undefined =>
  policy === undefined ? undefined : `By policy ${policy}`
