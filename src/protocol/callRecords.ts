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
  /** Set if the tool can undo the call's effect. */
  reversible: z.literal(true).exactOptional(),
  /** Set if the call polls for something. Recorded only for agents that look for stalls. */
  polls: z.literal(true).exactOptional(),
  /** Set if `beforeTool` has let the call through. Missing without that hook. */
  beforeTool: z.literal(true).exactOptional(),
  /** The rule or the mode by which the call runs; `none` if no decision was needed. Missing without `permissions`. */
  rule: z.string().exactOptional(),
  /** Set if the input differs from the model's. */
  edited: z.literal(true).exactOptional(),
  /** The sub-agent that carries the call out. */
  childId: agentIdSchema().exactOptional(),
  /** Set if that sub-agent is detached: its answer comes later, as a message with the provenance `report`. */
  reports: z.literal(true).exactOptional(),
  /** Id for the model, such as `b3`, if the call continues in the background. Its result is a receipt, and `call.reported` has its outcome. */
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
  /** The rule or the mode by which the call waits, or would run if its tool did not require an approval. */
  rule: z.string().exactOptional(),
  /** Rules that would allow the call, the narrowest first. */
  suggest: z.array(z.string()).exactOptional(),
  /** Set if the input differs from the model's. */
  edited: z.literal(true).exactOptional(),
  /** The running call that made this one. It waits meanwhile. */
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
  /** The running call that made the call in question. */
  parentCall: z.string().exactOptional(),
  /** Set if the process in which that call ran is gone. It then runs again from its start. */
  again: z.literal(true).exactOptional(),
  /** Rule that the person added. The decision then holds for all calls that the rule matches. */
  grant: grantSchema().exactOptional(),
  /** Id of the command with the decision, if it came over a wire. */
  requestId: z.string().exactOptional(),
}))
