import { z } from 'zod'
import { pruneOutcomeSchema, pruneRequestSchema, revertOutcomeSchema, revertRequestSchema } from './braking.ts'
import { errorInfoSchema } from './errors.ts'
import { agentIdSchema, nodeIdSchema } from './ids.ts'
import {
  assistantMessageSchema,
  plainBlockSchema,
  toolResultMessageSchema,
  usageSchema,
  userMessageSchema,
} from './messages.ts'

/** Version of the record format; a log written by a newer one is refused. */
export const recordVersion = 1

const count = z.int().nonnegative()

const base = {
  v: z.literal(recordVersion),
  /** 1, 2, 3 … per agent, without gaps. */
  seq: z.int().positive(),
  /** Milliseconds since the Unix epoch. */
  time: z.number(),
}
/** The run and turn under way, or the next ones in between; `turnIndex` counts from 0 over the agent's life, across runs. */
const inTurn = { ...base, loopId: z.string(), turnIndex: count }
const placed = { nodeId: nodeIdSchema, parentId: nodeIdSchema.nullable() }

/** Allowances of one run; a missing one is unlimited. */
export const limitsSchema = z.strictObject({
  turns: z.int().positive().exactOptional(),
  /** All tokens of the run's model calls, cached ones included. */
  tokens: z.int().positive().exactOptional(),
  costUsd: z.number().positive().exactOptional(),
  /** Wall time in milliseconds; time spent waiting for approvals does not count, and a tool that runs is waited for. */
  ms: z.number().positive().exactOptional(),
})
export type Limits = z.infer<typeof limitsSchema>

export const queuedMessageSchema = z.object({
  id: z.string(),
  content: z.array(plainBlockSchema).readonly(),
  /** Of a prompt's run. */
  limits: limitsSchema.exactOptional(),
})
export type QueuedMessage = z.infer<typeof queuedMessageSchema>

export const queueNameSchema = z.enum(['steering', 'followUps', 'prompts'])
export type QueueName = z.infer<typeof queueNameSchema>

/** Why an agent stands still; of limits the first that was met. */
export const pauseReasonSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('limit'),
    limit: z.enum(['turns', 'tokens', 'costUsd', 'ms']),
    allowed: z.number(),
    used: z.number(),
  }),
  z.object({ type: z.literal('approvals'), callIds: z.array(z.string()).readonly() }),
  z.object({ type: z.literal('store'), error: errorInfoSchema }),
  /** The process died in the middle of the run. */
  z.object({ type: z.literal('interrupted') }),
])
export type PauseReason = z.infer<typeof pauseReasonSchema>

/** A summary shown to the model in place of the trunk nodes `from`…`to`; the nodes themselves stay where they are. */
export const overlaySchema = z.object({
  /** The summary's own id: it is a step. */
  nodeId: nodeIdSchema,
  from: nodeIdSchema,
  to: nodeIdSchema,
  summary: z.string(),
  /** User messages inside the span; they are shown word for word after the summary. */
  kept: z.array(nodeIdSchema).readonly(),
  /** Tool outputs after the span, up to this node, are cut to `maxToolOutputChars`. */
  recentTo: nodeIdSchema,
  maxToolOutputChars: count,
})
export type Overlay = z.infer<typeof overlaySchema>

export const runStopReasonSchema = z.enum(['stop', 'length', 'refusal', 'paused', 'aborted', 'error'])
export type RunStopReason = z.infer<typeof runStopReasonSchema>

/** One line of the log. Each record is also an event: see `events.ts`. */
export const logRecordSchema = z.discriminatedUnion('type', [
  z.object({
    ...base,
    type: z.literal('agent.created'),
    agentId: agentIdSchema,
    /** Ids of the ancestors, root first. */
    path: z.array(z.string()).readonly(),
    definition: z.string(),
    model: z.string(),
    /** Id of the statechart, which carries its version. */
    machine: z.string(),
  }),
  z.object({
    ...inTurn,
    type: z.literal('run.start'),
    cause: z.enum(['prompt', 'steering', 'followUp', 'resume']),
    /** Id of the command that asked for the run. */
    requestId: z.string(),
    /** The paused run this one goes on from. */
    resumedFrom: z.string().exactOptional(),
    limits: limitsSchema,
  }),
  z.object({
    ...inTurn,
    type: z.literal('run.end'),
    stopReason: runStopReasonSchema,
    turns: count,
    usage: usageSchema,
    costUsd: z.number(),
    reason: pauseReasonSchema.exactOptional(),
    error: errorInfoSchema.exactOptional(),
  }),
  z.object({ ...inTurn, type: z.literal('turn.start') }),
  z.object({ ...inTurn, type: z.literal('turn.end'), usage: usageSchema, costUsd: z.number() }),
  z.object({ ...inTurn, ...placed, type: z.literal('message.added'), message: userMessageSchema }),
  z.object({
    ...inTurn,
    ...placed,
    type: z.literal('reply.end'),
    message: assistantMessageSchema,
    costUsd: z.number(),
    /** What the token counter expected of the request, before correction; 0 when unknown. */
    estimatedTokens: count,
  }),
  z.object({
    ...inTurn,
    type: z.literal('reply.reset'),
    attempt: z.int().positive(),
    error: errorInfoSchema,
    /** Of a reply that came but could not be used. */
    usage: usageSchema.exactOptional(),
    /** When the next attempt starts, in epoch milliseconds; missing when there is none. */
    retryAt: z.number().exactOptional(),
  }),
  z.object({
    ...inTurn,
    type: z.literal('tool.start'),
    callId: z.string(),
    /** Deterministic id of the call: the idempotency key of its effect. */
    key: z.string(),
    name: z.string(),
    input: z.unknown(),
  }),
  z.object({
    ...inTurn,
    ...placed,
    type: z.literal('tool.end'),
    callId: z.string(),
    key: z.string(),
    name: z.string(),
    message: toolResultMessageSchema,
  }),
  z.object({
    ...inTurn,
    type: z.literal('approval.requested'),
    callId: z.string(),
    name: z.string(),
    input: z.unknown(),
  }),
  z.object({
    ...inTurn,
    type: z.literal('approval.decided'),
    callId: z.string(),
    decision: z.enum(['approve', 'deny']),
    reason: z.string().exactOptional(),
  }),
  z.object({
    ...inTurn,
    type: z.literal('queue.changed'),
    queue: queueNameSchema,
    added: queuedMessageSchema.exactOptional(),
    /** It went to the front. */
    first: z.literal(true).exactOptional(),
    /** Ids that left the queue. */
    removed: z.array(z.string()).readonly().exactOptional(),
    /** `taken`: became messages; `dropped`: an abort or a stop cleared them. */
    why: z.enum(['taken', 'dropped']).exactOptional(),
    length: count,
  }),
  z.object({
    ...inTurn,
    type: z.literal('compaction.start'),
    cause: z.enum(['headroom', 'overflow']),
    tokens: count,
  }),
  z.object({
    ...inTurn,
    type: z.literal('compaction.end'),
    applied: z.boolean(),
    /** Why it was not applied. */
    reason: z.string().exactOptional(),
    overlay: overlaySchema.exactOptional(),
    tokensBefore: count,
    tokensAfter: count,
    usage: usageSchema.exactOptional(),
    costUsd: z.number(),
  }),
  z.object({ ...inTurn, type: z.literal('revert.requested'), request: revertRequestSchema }),
  z.object({ ...inTurn, type: z.literal('revert.applied'), ...revertOutcomeSchema.shape }),
  z.object({ ...inTurn, type: z.literal('prune.requested'), request: pruneRequestSchema }),
  z.object({ ...inTurn, type: z.literal('prune.applied'), ...pruneOutcomeSchema.shape }),
  z.object({ ...base, type: z.literal('agent.stopped') }),
])
export type LogRecord = z.infer<typeof logRecordSchema>

export type RecordOf<T extends LogRecord['type']> = Extract<LogRecord, { type: T }>

type WithoutTime<R> = R extends unknown ? Omit<R, 'time'> : never

/** A record as the machine makes it: all but the time, which the log's writer stamps. */
export type RecordDraft = WithoutTime<LogRecord>
