import { z } from 'zod'
import { policyInfoSchema, tagSchema, type PolicyInfo, type Tag } from '../protocol/braking.ts'
import { errorInfoSchema } from '../protocol/errorInfo.ts'
import { describeIssues, errorTable, RuntimeError, type ErrorCode, type ErrorInfo } from '../protocol/errors.ts'
import { agentSummarySchema, sessionEntrySchema, type AgentSummary, type SessionEntry } from '../protocol/frames.ts'
import { messageSchema, type Message } from '../protocol/messages.ts'
import { pendingSchema, type Pending } from '../protocol/pending.ts'
import { sourceInfoSchema, type SourceInfo } from '../protocol/toolsChange.ts'
import { turnUseSchema, type TurnUse } from '../protocol/turns.ts'
import { pauseReasonSchema, runStopReasonSchema, type PauseReason } from '../protocol/records.ts'

const count = z.int().nonnegative()

/** Answer to `agent.spawn`. */
export const spawnedSchema = z.object({ agentId: z.string(), seq: count })

/** Answer to a command; `ended` says how its run ended when the log will not. */
export const commandAnswerSchema = z.object({
  requestId: z.string(),
  ended: z.object({ stopReason: runStopReasonSchema, error: errorInfoSchema.exactOptional() }).exactOptional(),
})

/** A page of agents. */
export interface RemoteAgents {
  readonly agents: readonly AgentSummary[]
  /** Of all pages. */
  readonly total: number
}

/** Answer to `agent.list`. */
export const agentsSchema: z.ZodType<RemoteAgents> = z.object({ agents: z.array(agentSummarySchema), total: count })

/** A page of sessions. */
export interface RemoteSessions {
  readonly sessions: readonly SessionEntry[]
  /** Of all pages. */
  readonly total: number
}

/** Answer to `session.list`. */
export const sessionsSchema: z.ZodType<RemoteSessions> = z.object({
  sessions: z.array(sessionEntrySchema),
  total: count,
})

/** An agent and what is alive below it. */
export interface RemoteTree {
  readonly id: string
  readonly definition: string
  readonly state: string
  readonly children: readonly RemoteTree[]
}

const treeSchema: z.ZodType<RemoteTree> = z.object({
  id: z.string(),
  definition: z.string(),
  state: z.string(),
  children: z.lazy(() => z.array(treeSchema)),
})

const approvalSchema = z.object({
  agentId: z.string(),
  callId: z.string(),
  key: z.string(),
  name: z.string(),
  input: z.unknown(),
})

/** How an agent is now. */
export interface RemoteSnapshot extends AgentSummary {
  readonly tree: RemoteTree
  /** Calls that wait for `decide`, of the agent's own and of those below it. */
  readonly approvals: readonly z.infer<typeof approvalSchema>[]
  /** Everything that waits for people, told apart by `kind`; missing where the server is of an older version. */
  readonly asked?: readonly Pending[]
  /** Why it is paused. */
  readonly pause: PauseReason | null
  /** Those that `brake` can ask, in their order; missing where the server does not know them or is of an older version. */
  readonly policies?: readonly PolicyInfo[]
  /** How the sources of its tools are; missing without any, or where the server is of an older version. */
  readonly sources?: readonly SourceInfo[]
  /** What `use` said; missing if nothing. */
  readonly use?: TurnUse
}

/** Answer to `agent.snapshot`. */
export const snapshotSchema: z.ZodType<RemoteSnapshot> = z.object({
  ...agentSummarySchema.shape,
  tree: treeSchema,
  approvals: z.array(approvalSchema),
  asked: z.array(pendingSchema).readonly().exactOptional(),
  pause: pauseReasonSchema.nullable(),
  policies: z.array(policyInfoSchema).readonly().exactOptional(),
  sources: z.array(sourceInfoSchema).readonly().exactOptional(),
  use: turnUseSchema.exactOptional(),
})

/** A message in its place in the tree. */
export interface RemoteNode {
  readonly id: number
  readonly parentId: number | null
  readonly message: Message
  readonly runId: string
  readonly turnIndex: number
  /** Id of the first node of its step. */
  readonly stepId: number
  /** Estimated tokens of this message, and of the whole path from the root to it. */
  readonly tokens: number
  readonly pathTokens: number
  /** Place on its path, the root being 1. */
  readonly depth: number
  /** Notes that reverts to this node left. */
  readonly tags: readonly Tag[]
  /** The node this one repeats, after a revert took its original off the trunk. */
  readonly rebasedFrom?: number
  /** Of a copy that a graft made: the node it repeats. */
  readonly graftedFrom?: number
}

/** A conversation: the trunk, or every node ever made. */
export interface RemoteConversation {
  readonly head: number | null
  readonly nodes: readonly RemoteNode[]
  /** Pinned steps, by the id of their first node, and pinned summaries. */
  readonly pins: readonly number[]
  /** Steps of which the model does not see what the results hold, by the id of their first node. */
  readonly masks: readonly number[]
}

/** Answer to `agent.conversation`. */
export const conversationSchema: z.ZodType<RemoteConversation> = z.object({
  head: z.number().nullable(),
  nodes: z.array(
    z.object({
      id: z.number(),
      parentId: z.number().nullable(),
      message: messageSchema,
      runId: z.string(),
      turnIndex: z.number(),
      stepId: z.number(),
      tokens: z.number(),
      pathTokens: z.number(),
      depth: z.number(),
      tags: z.array(tagSchema),
      rebasedFrom: z.number().exactOptional(),
      graftedFrom: z.number().exactOptional(),
    }),
  ),
  // A server of an older version has none.
  pins: z.array(z.number()).default([]),
  masks: z.array(z.number()).default([]),
})

/** Checks what the server answered. @throws RuntimeError `BRIDGE_FRAME` */
export function readAnswer<T>(schema: z.ZodType<T>, answer: unknown): T {
  const checked = schema.safeParse(answer)
  if (checked.success) return checked.data
  throw new RuntimeError('BRIDGE_FRAME', `The server's answer is not known here: ${describeIssues(checked.error)}.`)
}

const isKnown = (code: string): code is ErrorCode => Object.hasOwn(errorTable, code)

/** An error of the server as one to throw. */
export function remoteError({ code, message }: ErrorInfo): RuntimeError {
  if (!isKnown(code)) return new RuntimeError('BRIDGE_FRAME', `The server answered ${code}: ${message}`)
  // The message ends with the advice of the table, which the constructor adds.
  const advice = ` ${errorTable[code]}`
  return new RuntimeError(code, message.endsWith(advice) ? message.slice(0, -advice.length) : message)
}

/** The error of every call on a closed client. */
export const closedError = (): RuntimeError => new RuntimeError('BRIDGE_CLOSED', 'The client is closed.')
