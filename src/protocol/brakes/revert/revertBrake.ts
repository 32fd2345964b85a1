import type { RevertOutcome, RevertRequest, RevertCommand } from './revertRecords.ts'

/** The queue of the requests, the commands that ask for it, and what a refusal records. */
export const revertBrake = {
  tool: 'revert_to_state',
  queue: 'reverts',
  /** State of the chart after the drain. */
  drained: 'reverted',
  flag: 'revert',
  asks: {
    'agent.revert': ({ step, category, summary, undo }: RevertCommand) => ({
      step,
      category,
      ...(summary === undefined ? {} : { summary }),
      ...(undo === true ? ({ undo } as const) : {}),
    }),
  },
  refused: ({ id, category, step }: RevertRequest, why: string): RevertOutcome => ({
    id,
    applied: false,
    category,
    requested: step,
    reason: `revert refused: ${why}`,
  }),
} as const
