import type { AgentShape, Policy } from './policy.ts'
import { frameOnDemand } from './frameOnDemand.ts'
import { revertDeadEnds, squashRuns } from './hindsight.ts'
import { mask } from './masking.ts'

const off = { compaction: false } as const

/** Share of the window at which the product compacts with its defaults. */
export const compactsAt = 0.85

/** Options of folding, or its defaults. */
export type FoldOptions = NonNullable<NonNullable<AgentShape['braking']>['fold']>

/** All rows, in the order of the table. `compactAt`: tokens of a request at which it is compacted. */
export const policiesFor = (compactAt: number, fold: FoldOptions = true): readonly Policy[] => {
  const compaction = { contextWindow: Math.round(compactAt / compactsAt) }
  return [
    { name: 'none', about: 'nothing is hidden: what the others are compared with', shape: off },
    { name: 'compaction', about: `summarised above ${compactAt} tokens, by no model`, shape: { compaction } },
    {
      name: 'mask-rolling',
      about: 'all but the 10 newest results hidden at every turn (simulated)',
      shape: off,
      simulate: (requests) => mask(requests, { keep: 10, above: 0 }),
    },
    {
      name: 'mask-threshold',
      about: `all but the 3 newest results hidden whenever a request passes ${compactAt} tokens (simulated)`,
      shape: off,
      simulate: (requests) => mask(requests, { keep: 3, above: compactAt }),
    },
    {
      name: 'dead-ends',
      about: 'the model reverts dead ends, found by hindsight; notes expire exactly',
      shape: { ...off, braking: { revert: { decay: 'exact' } } },
      script: revertDeadEnds,
    },
    {
      name: 'dead-ends-lazy',
      about: 'the same; notes expire where the request changes anyway',
      shape: { ...off, braking: { revert: { decay: 'lazy' } } },
      script: revertDeadEnds,
    },
    {
      name: 'completion',
      about: 'each finished run is reverted to its prompt, with its last words as summary',
      shape: { ...off, braking: { revert: { decay: 'lazy' } } },
      script: squashRuns,
    },
    {
      name: 'fold',
      about: 'old steps folded in batches, with an index of the names that are gone',
      shape: { ...off, braking: { fold } },
    },
    {
      name: 'fold-no-index',
      about: 'the same without the index',
      shape: { ...off, braking: { fold: { indexTokens: 0 } } },
    },
    {
      name: 'fold-compaction',
      about: 'fold, with the compaction above as the last resort',
      shape: { compaction, braking: { fold } },
    },
    {
      name: 'on-demand',
      about: 'deferred tools, and long instructions read when they are needed (made up), nothing hidden',
      shape: off,
      reshape: frameOnDemand,
    },
    {
      name: 'fold-on-demand',
      about: 'the same, with fold',
      shape: { ...off, braking: { fold } },
      reshape: frameOnDemand,
    },
  ]
}
