import { z } from 'zod'
import { lazily } from '../../lazily.ts'
import { inTurn } from '../../recordShapes.ts'

/** Kinds of updates about the work of an agent elsewhere: words, thoughts, tool calls, its plan, and its status. */
export const updateKindSchema = lazily(() => z.enum(['text', 'thought', 'tool', 'plan', 'status']))
export type UpdateKind = z.infer<ReturnType<typeof updateKindSchema>>

/** A call that an agent elsewhere carries out. */
const elsewhere = () => ({
  ...inTurn(),
  callId: z.string(),
  /** Key of the call. */
  key: z.string(),
  name: z.string(),
  /** Id of the task at the place that carries it out, such as a session id. */
  childId: z.string(),
})

export const remoteRecords = {
  /** The start of a task elsewhere. The last record for a call tells how to find the task again, and is written before anything waits for it. */
  'child.noted': () =>
    z.object({
      ...elsewhere(),
      type: z.literal('child.noted'),
      /** Protocol by which the agent is reached, such as `acp`. */
      protocol: z.string(),
      /** All data needed to find the task again; JSON. */
      handle: z.unknown(),
    }),
  /** An update about the work of an agent elsewhere, at most four a second. */
  'child.update': () =>
    z.object({
      ...elsewhere(),
      type: z.literal('child.update'),
      /** Time of the update, in epoch milliseconds. */
      at: z.number(),
      kind: updateKindSchema(),
      text: z.string(),
    }),
} as const
