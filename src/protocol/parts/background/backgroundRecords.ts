import { z } from 'zod'
import { lazily } from '../../lazily.ts'
import { effectsShape, plainBlockSchema } from '../../messages.ts'
import { inTurn } from '../../recordShapes.ts'
import { resultDataShape } from '../../resultData.ts'

/**
 * Reason why a background call ended before its tool did: it was `aborted`, the model `cancelled` it, or the
 * process died (`interrupted`), in which case its effect is unknown.
 */
export const backgroundEndSchema = lazily(() => z.enum(['aborted', 'cancelled', 'interrupted']))
export type BackgroundEnd = z.infer<ReturnType<typeof backgroundEndSchema>>

export const backgroundRecords = {
  /** A note by a background call, written before it starts something that would outlive its process, such as a child process. */
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
  /** The end of a background call. Its message to the model follows. A call whose branch was abandoned ends with `revert.applied`. */
  'call.reported': () =>
    z.object({
      ...inTurn(),
      type: z.literal('call.reported'),
      callId: z.string(),
      /** Key of the call. */
      key: z.string(),
      /** Id of the call for the model, such as `b3`. */
      id: z.string(),
      name: z.string(),
      content: z.array(plainBlockSchema()).readonly(),
      isError: z.boolean(),
      ended: backgroundEndSchema().exactOptional(),
      /** Data for the application, as in a result. */
      data: resultDataShape().data,
      dataApart: resultDataShape().dataApart,
      ...effectsShape(),
      hook: z.enum(['replaced', 'withheld']).exactOptional(),
    }),
} as const
