import type { GraftOutcome, GraftRequest } from './graftRecords.ts'

/** The queue of the requests, the commands that ask for it, and what a refusal records. */
export const graftBrake = {
  tool: 'graft',
  queue: 'grafts',
  /** State of the chart after the drain. */
  drained: 'grafted',
  asks: { 'agent.graft': ({ steps }: Pick<GraftRequest, 'steps'>) => ({ steps }) },
  refused: ({ id, steps }: GraftRequest, why: string): GraftOutcome => ({
    id,
    applied: false,
    requested: steps,
    copies: [],
    reason: `graft refused: ${why}`,
  }),
} as const
