import { z } from 'zod'
import { questionSchema } from './questions.ts'

const waiting = {
  agentId: z.string(),
  callId: z.string(),
  /** Unique across all agents; any ancestor can decide by it. */
  key: z.string(),
  name: z.string(),
  input: z.unknown(),
  /** Since when it waits, in epoch milliseconds; missing where the server is of an older version. */
  askedAt: z.number().exactOptional(),
}

/** What waits for people: a call to be approved, a question of a tool, or a call that a client is to carry out. */
export const pendingSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('approval'),
    ...waiting,
    /** What the call does cannot be undone. */
    irreversible: z.literal(true).exactOptional(),
  }),
  z.object({ kind: z.literal('question'), ...waiting, ...questionSchema().shape }),
  z.object({ kind: z.literal('call'), ...waiting }),
])
export type Pending = Readonly<z.infer<typeof pendingSchema>>
export type PendingOf<K extends Pending['kind']> = Extract<Pending, { kind: K }>
