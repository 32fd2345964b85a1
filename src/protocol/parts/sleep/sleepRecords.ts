import { z } from 'zod'
import { inTurn } from '../../recordShapes.ts'

export const sleepRecords = {
  /** The start of a call's wait for a time. */
  'timer.set': () =>
    z.object({
      ...inTurn(),
      type: z.literal('timer.set'),
      callId: z.string(),
      key: z.string(),
      due: z.int(),
      /** Set if the call runs again at the time. */
      goesOn: z.literal(true).exactOptional(),
    }),
  /** The end of a call's wait. The call has its result with the next record, or runs again. */
  'timer.fired': () =>
    z.object({
      ...inTurn(),
      type: z.literal('timer.fired'),
      callId: z.string(),
      key: z.string(),
      due: z.int(),
      /** Reason why the wait ended early. */
      early: z.enum(['steering']).exactOptional(),
      /** Set if the call runs again. */
      again: z.literal(true).exactOptional(),
    }),
} as const
