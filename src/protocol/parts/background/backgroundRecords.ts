import { z } from 'zod'
import { lazily } from '../../lazily.ts'
import { effectsShape, plainBlockSchema } from '../../messages.ts'
import { inTurn } from '../../recordShapes.ts'
import { resultDataShape } from '../../resultData.ts'

/**
 * Reason for which a background call ended before its tool did: it was `aborted`, the model `cancelled` it, or the process died (`interrupted`) and
 * it is not known whether it happened.
 */
export const backgroundEndSchema = lazily(() => z.enum(['aborted', 'cancelled', 'interrupted']))
export type BackgroundEnd = z.infer<ReturnType<typeof backgroundEndSchema>>

export const backgroundRecords = {
  /** A background call says what it would leave behind if its process died, such as a process of its own, before it begins that. */
  'call.noted': () =>
    z.object({
      ...inTurn(),
      type: z.literal('call.noted'),
      callId: z.string(),
      key: z.string(),
      id: z.string(),
      name: z.string(),
      left: z.unknown(),
    }),
  /** A background call has ended. Its message to the model follows. One whose branch was abandoned ends with `revert.applied`. */
  'call.reported': () =>
    z.object({
      ...inTurn(),
      type: z.literal('call.reported'),
      callId: z.string(),
      /** Key of the call. */
      key: z.string(),
      /** Its id for the model, such as `b3`. */
      id: z.string(),
      name: z.string(),
      content: z.array(plainBlockSchema()).readonly(),
      isError: z.boolean(),
      ended: backgroundEndSchema().exactOptional(),
      /** The same fields as those of a result. */
      data: resultDataShape().data,
      dataApart: resultDataShape().dataApart,
      ...effectsShape(),
      hook: z.enum(['replaced', 'withheld']).exactOptional(),
    }),
} as const
