import type { GraftOutcome, GraftRequest } from './graftRecords.ts'

/** Graft brake: its queue, the commands that request a graft, and the record of a refusal. */
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
