import type { PinOutcome, PinRequest } from './pinRecords.ts'

type PinCommand = { readonly step: string }

/** The queue of the requests, the commands that ask for it, and what a refusal records. */
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
