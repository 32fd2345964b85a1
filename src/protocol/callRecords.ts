import { z } from 'zod'
import { lazily } from './lazily.ts'
import { agentIdSchema } from './ids.ts'
import { grantSchema } from './parts/permissions/permissionRecords.ts'

export const toolStartShape = lazily(() => ({
  callId: z.string(),
  /** Deterministic id of the call: the idempotency key of its effect. */
  key: z.string(),
  name: z.string(),
  input: z.unknown(),
  /** Set if the effect of the call cannot be undone. */
  irreversible: z.literal(true).exactOptional(),
  /** Set if its tool can undo its effect. */
  reversible: z.literal(true).exactOptional(),
  /** Set if the call polls for something. Recorded only for agents that look for stalls. */
  polls: z.literal(true).exactOptional(),
  /** `beforeTool` has let the call through; missing without that hook. */
  beforeTool: z.literal(true).exactOptional(),
  /** The rule or the mode by which it runs; `none` if nothing was to be decided. Missing without `permissions`. */
  rule: z.string().exactOptional(),
  /** Set if the input differs from the model's. */
  edited: z.literal(true).exactOptional(),
  /** The sub-agent that carries the call out. */
  childId: agentIdSchema().exactOptional(),
  /** Set if that sub-agent is detached: its answer comes later, as a message with the provenance `report`. */
  reports: z.literal(true).exactOptional(),
  /** Set if it goes on in the background, by its id for the model, such as `b3`: its result is a receipt, and `call.reported` has its outcome. */
  background: z.string().exactOptional(),
}))

/** Fields of a call that waits for an approval. */
export const approvalRequestShape = lazily(() => ({
  callId: z.string(),
  /** Set if the call cannot be undone. */
  irreversible: z.literal(true).exactOptional(),
  /** Key of the call, unique across all agents. The agent and any ancestor accept it in a decision. */
  key: z.string(),
  name: z.string(),
  input: z.unknown(),
  beforeTool: z.literal(true).exactOptional(),
  /** The rule or the mode by which it waits, or would run if its tool did not want an approval. */
  rule: z.string().exactOptional(),
  /** Rules that would allow the call, the narrowest first. */
  suggest: z.array(z.string()).exactOptional(),
  /** Set if the input differs from the model's. */
  edited: z.literal(true).exactOptional(),
  /** The running call that makes this one, which waits meanwhile. */
  parentCall: z.string().exactOptional(),
}))

/** Fields of the decision about an approval. */
export const approvalDecisionShape = lazily(() => ({
  callId: z.string(),
  /** Key of the request. */
  key: z.string(),
  decision: z.enum(['approve', 'deny']),
  reason: z.string().exactOptional(),
  /** Arguments that replace the model's, if a person edited them. */
  input: z.unknown().exactOptional(),
  /** The running call that makes the one that was decided about. */
  parentCall: z.string().exactOptional(),
  /** Set if the process in which that call ran is gone. It then runs again from its start. */
  again: z.literal(true).exactOptional(),
  /** Rule that the person added: what the decision says holds for all calls that it is about. */
  grant: grantSchema().exactOptional(),
  /** Id of the command that decided, when it came over a wire. */
  requestId: z.string().exactOptional(),
}))
