import { z } from 'zod'
import type { Metadata } from '../metadata.ts'
import { questionSchema } from '../questions.ts'

const waiting = {
  agentId: z.string(),
  callId: z.string(),
  /** Unique across all agents; any ancestor can decide by it. */
  key: z.string(),
  name: z.string(),
  input: z.unknown(),
  /** When it began to wait, in epoch milliseconds; missing where the server is of an older version. */
  askedAt: z.number().exactOptional(),
}

/** Something that waits for people: a call to be approved, a question of a tool, or a call that a client is to carry out. */
export const pendingSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('approval'),
    ...waiting,
    /** The call cannot be undone. */
    irreversible: z.literal(true).exactOptional(),
  }),
  z.object({ kind: z.literal('question'), ...waiting, ...questionSchema().shape }),
  z.object({ kind: z.literal('call'), ...waiting }),
])
export type Pending = Readonly<z.infer<typeof pendingSchema>>
export type PendingOf<K extends Pending['kind']> = Extract<Pending, { kind: K }>

/** An agent at which something waits for people, running or not. */
export interface WaitingAgent {
  /** The agent at the top of its tree: an entry may be of an agent below it, as its `agentId` says. */
  readonly agentId: string
  readonly definition: string
  readonly title?: string
  /** Metadata that the application noted on it. */
  readonly metadata?: Metadata
  /** True if the agent runs here. One that does not continues from its log once one of its entries is decided. */
  readonly isRunning: boolean
  /** Everything that waits, the longest wait first. */
  readonly pending: readonly Pending[]
}
