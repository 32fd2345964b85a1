import { z } from 'zod'
import { lazily } from './lazily.ts'
import { agentIdSchema } from './ids.ts'

/** Of a call that starts. */
export const toolStartShape = lazily(() => ({
  callId: z.string(),
  /** Deterministic id of the call: the idempotency key of its effect. */
  key: z.string(),
  name: z.string(),
  input: z.unknown(),
  /** What it does cannot be undone. */
  irreversible: z.literal(true).exactOptional(),
  /** Its tool can undo what it does. */
  reversible: z.literal(true).exactOptional(),
  /** It waits for something by asking again and again; only of agents that look for stalls. */
  polls: z.literal(true).exactOptional(),
  /** `beforeTool` has let the call through; missing without that hook. */
  beforeTool: z.literal(true).exactOptional(),
  /** The input is not what the model gave. */
  edited: z.literal(true).exactOptional(),
  /** The sub-agent that carries the call out. */
  childId: agentIdSchema().exactOptional(),
  /** That sub-agent works on its own, and its answer comes later, as a message with the provenance `report`. */
  reports: z.literal(true).exactOptional(),
}))

/** Of a call that waits for an approval. */
export const approvalRequestShape = lazily(() => ({
  callId: z.string(),
  /** The call cannot be undone. */
  irreversible: z.literal(true).exactOptional(),
  /** Unique across all agents; the agent and any ancestor can decide the call by it. */
  key: z.string(),
  name: z.string(),
  input: z.unknown(),
  beforeTool: z.literal(true).exactOptional(),
  /** The input is not what the model gave. */
  edited: z.literal(true).exactOptional(),
}))

/** Of what was decided about it. */
export const approvalDecisionShape = lazily(() => ({
  callId: z.string(),
  /** That of the request. */
  key: z.string(),
  decision: z.enum(['approve', 'deny']),
  reason: z.string().exactOptional(),
  /** What the call runs with in place of the model's arguments, if a person edited them. */
  input: z.unknown().exactOptional(),
  /** Id of the command that decided, when it came over a wire. */
  requestId: z.string().exactOptional(),
}))
