import { z } from 'zod'
import type { Metadata } from '../metadata.ts'
import { questionSchema } from '../questions.ts'

const waiting = {
  agentId: z.string(),
  callId: z.string(),
  /** Key of the entry, unique across all agents. Any ancestor accepts it in a decision. */
  key: z.string(),
  name: z.string(),
  input: z.unknown(),
  /** Start of the wait, in epoch milliseconds; missing from servers of an older version. */
  askedAt: z.number().exactOptional(),
}

/** Something that waits for people: a call to be approved, a question of a tool, or a call that a client is to carry out. */
export const pendingSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('approval'),
    ...waiting,
    /** Set if the call cannot be undone. */
    irreversible: z.literal(true).exactOptional(),
    /** Rules that would allow the call, the narrowest first; missing without `permissions`. */
    suggest: z.array(z.string()).readonly().exactOptional(),
  }),
  z.object({
    kind: z.literal('question'),
    ...waiting,
    ...questionSchema().shape,
    /** Id of the call, if it works in the background: its agent does not wait for the answer. */
    background: z.string().exactOptional(),
  }),
  z.object({ kind: z.literal('call'), ...waiting }),
])
export type Pending = Readonly<z.infer<typeof pendingSchema>>
export type PendingOf<K extends Pending['kind']> = Extract<Pending, { kind: K }>

/** A running or stored agent with something that waits for people. */
export interface WaitingAgent {
  /** The root of the agent's tree. An entry may belong to a descendant, given by its `agentId`. */
  readonly agentId: string
  readonly definition: string
  readonly title?: string
  /** Metadata that the application attached to the agent. */
  readonly metadata?: Metadata
  /** True if the agent runs here. Otherwise it continues from its log once one of its entries is decided. */
  readonly isRunning: boolean
  /** All entries, the longest wait first. */
  readonly pending: readonly Pending[]
}
