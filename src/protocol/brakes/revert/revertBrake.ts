import type { RevertOutcome, RevertRequest, RevertCommand } from './revertRecords.ts'

/** Revert brake: its queue, the commands that request a revert, and the record of a refusal. */
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
