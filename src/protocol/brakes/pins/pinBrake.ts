import type { PinOutcome, PinRequest } from './pinRecords.ts'

type PinCommand = { readonly step: string }

/** Pin brake: its queue, the commands that request a pin, and the record of a refusal. */
export const pinBrake = {
  tool: 'pin_step',
  queue: 'pins',
  /** State of the chart after the drain. */
  drained: 'pinned',
  asks: {
    'agent.pin': ({ step }: PinCommand) => ({ step, pinned: true }),
    'agent.unpin': ({ step }: PinCommand) => ({ step, pinned: false }),
  },
  refused: ({ id, step: requested, pinned }: PinRequest, why: string): PinOutcome => ({
    id,
    applied: false,
    requested,
    pinned,
    reason: `${pinned ? 'pin' : 'unpin'} refused: ${why}`,
  }),
} as const
