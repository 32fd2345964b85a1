import { z } from 'zod'
import { lazily } from '../../lazily.ts'
import { inTurn } from '../../recordShapes.ts'

/** Kinds of what an agent elsewhere tells of its work: words, thoughts, calls of its tools, its plan, and how it is. */
export const updateKindSchema = lazily(() => z.enum(['text', 'thought', 'tool', 'plan', 'status']))
export type UpdateKind = z.infer<ReturnType<typeof updateKindSchema>>

/** A call that an agent elsewhere carries out. */
const elsewhere = () => ({
  ...inTurn(),
  callId: z.string(),
  /** Key of the call. */
  key: z.string(),
  name: z.string(),
  /** Id of the task where it is carried out, such as that of a session. */
  childId: z.string(),
})

export const remoteRecords = {
  /** A task was begun elsewhere. The last of a call says how to find it again, before anybody waits for it. */
  'child.noted': () =>
    z.object({
      ...elsewhere(),
      type: z.literal('child.noted'),
      /** Protocol by which the agent is reached, such as `acp`. */
      protocol: z.string(),
      /** All that is needed to find the task again; JSON. */
      handle: z.unknown(),
    }),
  /** Work of an agent elsewhere, at most four a second. */
  'child.update': () =>
    z.object({
      ...elsewhere(),
      type: z.literal('child.update'),
      /** Epoch milliseconds. */
      at: z.number(),
      kind: updateKindSchema(),
      text: z.string(),
    }),
} as const
