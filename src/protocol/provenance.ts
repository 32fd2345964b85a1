import { z } from 'zod'
import { lazily } from './lazily.ts'

const count = lazily(() => z.int().nonnegative())

/** Origin of a message: derived, or set by the application on its messages to an agent. */
export const provenanceKindSchema = lazily(() =>
  z.discriminatedUnion('type', [
    /** Instructions that travel as a message; the system prompt itself is the request's `system`. */
    z.object({ type: z.literal('systemPrompt') }),
    /** A block of the agent's identity, such as a persona file. */
    z.object({ type: z.literal('identityBlock'), name: z.string(), order: z.int() }),
    /** A record of a memory store. */
    z.object({ type: z.literal('memoryTier'), tier: z.string(), recordId: z.string() }),
    /** A message of the conversation. `messageIndex` counts from 0 within its turn. `calls` is the number of calls in a reply, if it has any. */
    z.object({
      type: z.literal('loopTurn'),
      turnIndex: count(),
      role: z.enum(['user', 'assistant', 'toolResult']),
      messageIndex: count(),
      calls: count().exactOptional(),
    }),
    z.object({ type: z.literal('steering') }),
    z.object({ type: z.literal('followUp') }),
    /** A brake note, a prune memo, or a note about a fault in the last answer. */
    z.object({ type: z.literal('note'), kind: z.string() }),
    z.object({ type: z.literal('summary') }),
    /** A message of another system, from the history that the agent began with. */
    z.object({ type: z.literal('imported') }),
    /**
     * The outcome of a detached agent's call, sent once the agent has ended. With `background`, the outcome of
     * the background call with that id. `agentId` is then the agent itself.
     */
    z.object({
      type: z.literal('report'),
      agentId: z.string(),
      name: z.string(),
      callId: z.string(),
      background: z.string().exactOptional(),
    }),
    /** The prompt of a schedule that came due. */
    z.object({ type: z.literal('schedule'), id: z.string() }),
    z.object({ type: z.literal('unknown') }),
  ]),
)
export type ProvenanceKind = z.infer<ReturnType<typeof provenanceKindSchema>>

/** Origin of a merged message. Logs of earlier versions have no `block`. */
const mergedSchema = lazily(() => z.intersection(provenanceKindSchema(), z.object({ block: count().exactOptional() })))

/**
 * Origin of one message of a request. `merged` lists the origins of further messages that were merged into it, because providers want roles to
 * alternate, each with the index of its first block.
 */
export const provenanceSchema = lazily(() =>
  z.intersection(provenanceKindSchema(), z.object({ merged: z.array(mergedSchema()).readonly().exactOptional() })),
)
export type Provenance = z.infer<ReturnType<typeof provenanceSchema>>
