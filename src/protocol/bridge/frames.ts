import { z } from 'zod'
import { onlyFields } from '../checks/onlyFields.ts'
import { lazily } from '../lazily.ts'
import { agentCommands } from './commands.ts'
import { errorInfoSchema } from '../errorInfo.ts'
import { agentIdSchema, nodeIdSchema } from '../ids.ts'
import { metadataSchema } from '../metadata.ts'
import { usageSchema } from '../messages.ts'
import { pauseReasonSchema, runStopReasonSchema, spentSchema } from '../records.ts'
import { roleSchema } from './rightsSchema.ts'
import { variants } from './variants.ts'

const seq = lazily(() => z.int().nonnegative())
/** Made by the client, unique in its session: a command sent again under it is carried out once. */
const commandId = lazily(() => z.string().min(1).max(128))
const asked = lazily(() => ({ id: commandId() }))
const ofAgent = lazily(() => ({ ...asked(), agentId: agentIdSchema() }))

const commandFrames = Object.fromEntries(
  Object.entries(agentCommands.makers).map(([type, make]) => [type, () => make().extend(asked())]),
) as unknown as WithId<typeof agentCommands.makers>
type WithId<Makers> = {
  readonly [T in keyof Makers]: Makers[T] extends () => z.ZodObject<infer Shape, infer Config>
    ? () => z.ZodObject<Shape & { id: ReturnType<typeof commandId> }, Config>
    : never
}

/** Frames that a client may send. */
export const clientFrames = variants({
  /** The first frame. `sessionId`: the session to continue, so that commands sent again are recognised. */
  hello: () =>
    onlyFields({
      type: z.literal('hello'),
      token: z.string().max(4_096).exactOptional(),
      /** A secret of the client that its session id is keyed by, in place of the token: a client whose token changes stays in its session. */
      sessionKey: z.string().min(16).max(128).exactOptional(),
      sessionId: z
        .string()
        .regex(/^[\w.-]{1,128}$/, 'give 1 to 128 letters, digits, ".", "_" or "-"')
        .exactOptional(),
    }),
  ...commandFrames,
  'agent.spawn': () =>
    onlyFields({
      ...asked(),
      type: z.literal('agent.spawn'),
      definition: z.string(),
      agentId: agentIdSchema().exactOptional(),
      /** Begins an incognito agent: nothing of it is stored, no other client sees it, and it ends with the client's session. */
      incognito: z.boolean().exactOptional(),
      /** Metadata noted on the agent for good; the server may add its own. */
      metadata: metadataSchema().exactOptional(),
    }),
  'agent.list': () =>
    onlyFields({
      ...asked(),
      type: z.literal('agent.list'),
      /** Only those that have all of these values. */
      metadata: metadataSchema().exactOptional(),
      after: agentIdSchema().exactOptional(),
      limit: z.int().positive().max(1_000).exactOptional(),
    }),
  'agent.snapshot': () => onlyFields({ ...ofAgent(), type: z.literal('agent.snapshot') }),
  'agent.conversation': () =>
    onlyFields({ ...ofAgent(), type: z.literal('agent.conversation'), view: z.enum(['trunk', 'log']) }),
  'agent.subscribe': () =>
    onlyFields({
      ...ofAgent(),
      type: z.literal('agent.subscribe'),
      /** The first record wanted; default: from the beginning. */
      fromSeq: z.int().positive().exactOptional(),
      deltas: z.boolean().exactOptional(),
      descendants: z.boolean().exactOptional(),
      /** Sends the requests to the model too (`turn.request`), each of which has the whole conversation; default `false`. */
      requests: z.boolean().exactOptional(),
    }),
  'agent.unsubscribe': () => onlyFields({ ...ofAgent(), type: z.literal('agent.unsubscribe') }),
  /** Begins a session that shares the past of an agent up to the step of a node, such as `n12`. */
  'agent.fork': () => onlyFields({ ...ofAgent(), type: z.literal('agent.fork'), at: z.string().max(32) }),
  /** Asks for the past that a fork shares with its source, page by page, whether or not the source itself is within reach. */
  'agent.past': () =>
    onlyFields({
      ...ofAgent(),
      type: z.literal('agent.past'),
      /** Position from the previous answer; default: the beginning. */
      from: onlyFields({ part: z.int().nonnegative(), seq: z.int().positive() }).exactOptional(),
    }),
  /** Asks for a token that grants read access to the agent and those below it. */
  'agent.share': () =>
    onlyFields({
      ...ofAgent(),
      type: z.literal('agent.share'),
      /** Lifetime of the token in milliseconds; default: a day. */
      ms: z.int().positive().exactOptional(),
    }),
  /** Asks for `agents` frames: the running agents, and their changes, sub-agents included. */
  'agent.watch': () => onlyFields({ ...asked(), type: z.literal('agent.watch') }),
  'agent.unwatch': () => onlyFields({ ...asked(), type: z.literal('agent.unwatch') }),
  /** Sessions of the store, running or not, the one written last first. */
  'session.list': () =>
    onlyFields({
      ...asked(),
      type: z.literal('session.list'),
      /** Only those that have all of these values. */
      metadata: metadataSchema().exactOptional(),
      /** Only those whose agents run on the server, or only those whose agents do not. */
      running: z.boolean().exactOptional(),
      /** Only forks of this one's own log. */
      forkedFrom: agentIdSchema().exactOptional(),
      after: agentIdSchema().exactOptional(),
      limit: z.int().positive().max(1_000).exactOptional(),
    }),
  /** Where something was said, in sessions of the store: the records that have all of the words, the best first. */
  'session.search': () =>
    onlyFields({
      ...asked(),
      type: z.literal('session.search'),
      text: z.string().max(1_000),
      /** Only in those that have all of these values. */
      metadata: metadataSchema().exactOptional(),
      /** How many records at most; default: 20. */
      limit: z.int().positive().max(100).exactOptional(),
    }),
  /** Asks for everything that waits for people, at agents that run and at others, the longest wait first. No agent is woken. */
  'waiting.list': () =>
    onlyFields({
      ...asked(),
      type: z.literal('waiting.list'),
      /** Only at agents that have all of these values. */
      metadata: metadataSchema().exactOptional(),
      /** How many agents at most; default: 100. */
      limit: z.int().positive().max(1_000).exactOptional(),
    }),
  /** The processes to which a gateway takes commands; none where the server is no gateway. Only for clients that may see all agents and have the right `operate`. */
  'worker.list': () => onlyFields({ ...asked(), type: z.literal('worker.list') }),
  ping: () => onlyFields({ type: z.literal('ping'), id: commandId().exactOptional() }),
})
export type ClientFrame = z.input<ReturnType<typeof clientFrames.schema>>
export type CheckedClientFrame = z.output<ReturnType<typeof clientFrames.schema>>

/** A process behind a gateway that has agents work. */
export const workerEntrySchema = lazily(() =>
  z.object({
    /** Address of the process: `worker-1.internal:4100`. The summaries of its agents have the same name. */
    name: z.string(),
    /** Name of the process and the time since when it runs, where the store knows that. */
    words: z.string().exactOptional(),
  }),
)
export type WorkerEntry = z.infer<ReturnType<typeof workerEntrySchema>>

/** How a run ended, in a list. `at` in epoch milliseconds; of an error the message is one line. */
export const lastRunSchema = lazily(() =>
  z.object({
    stopReason: runStopReasonSchema(),
    at: z.number(),
    error: errorInfoSchema().exactOptional(),
    /** Why it is paused. */
    reason: pauseReasonSchema().exactOptional(),
  }),
)
export type LastRun = z.infer<ReturnType<typeof lastRunSchema>>

/** An agent as a list or a snapshot shows it. */
export const agentSummarySchema = lazily(() =>
  z.object({
    agentId: agentIdSchema(),
    definition: z.string(),
    /** Name of the definition that answers, if that is another: the conversation was handed over. */
    active: z.string().exactOptional(),
    path: z.array(z.string()).readonly(),
    state: z.string(),
    /** `seq` of its last record. */
    seq: seq(),
    head: nodeIdSchema().nullable(),
    /** Keys of the calls that wait for an approval, its own and of those below it. */
    pendingApprovals: z.array(z.string()).readonly(),
    /** Keys of everything that waits for people; missing from servers of an older version. */
    pending: z.array(z.string()).readonly().exactOptional(),
    /** Usage over its life, its sub-agents included. */
    spent: spentSchema(),
    /** `spent` with the usage of sub-agents that still run; missing where it is the same. */
    treeSpent: spentSchema().exactOptional(),
    /** Subject on one line of at most 60 characters: the task its caller gave it, or its first prompt. */
    title: z.string().exactOptional(),
    /** How its last run ended; missing before the first end, and while a run is under way. */
    last: lastRunSchema().exactOptional(),
    /** When the run under way began, in epoch milliseconds. */
    busySince: z.number().exactOptional(),
    /** When its last record was written, in epoch milliseconds. */
    activeAt: z.number().exactOptional(),
    /** The calls under way, in a few words: `run_command npm test`. */
    doing: z.string().exactOptional(),
    /** Tokens of its last request, and how many its model takes where that is known. */
    contextTokens: z.object({ used: z.number(), window: z.number().exactOptional() }).exactOptional(),
    metadata: metadataSchema().exactOptional(),
    /** The process that has it, as `worker.list` names it: in lists of a gateway, for clients that may see all agents. */
    worker: z.string().exactOptional(),
  }),
)
export type AgentSummary = z.infer<ReturnType<typeof agentSummarySchema>>

/** A session of the store as a list shows it. Times in epoch milliseconds. */
export const sessionEntrySchema = lazily(() =>
  z.object({
    agentId: z.string(),
    definition: z.string(),
    path: z.array(z.string()).readonly(),
    status: z.enum(['running', 'completed', 'aborted', 'rejected', 'paused', 'failed']),
    /** Ended for good. */
    isStopped: z.boolean(),
    createdAt: z.number(),
    updatedAt: z.number(),
    runs: z.int().nonnegative(),
    turns: z.int().nonnegative(),
    usage: usageSchema(),
    costUsd: z.number(),
    /** Subject, as in a summary of an agent. */
    title: z.string().exactOptional(),
    last: lastRunSchema().exactOptional(),
    /** The session it was forked from. */
    forkedFrom: z.string().exactOptional(),
    metadata: metadataSchema().exactOptional(),
    /** Why its log cannot be read to the end. */
    error: errorInfoSchema().exactOptional(),
  }),
)
export type SessionEntry = z.infer<ReturnType<typeof sessionEntrySchema>>

/** Frames that a server sends. Several frames that are ready together share a message, as an array. */
export const serverFrames = variants({
  welcome: () =>
    z.object({
      type: z.literal('welcome'),
      sessionId: z.string(),
      /** The role that was granted; missing where rights were granted one by one. */
      role: roleSchema().exactOptional(),
      /** The rights of the client; missing from servers of an older version. */
      may: z.array(z.string()).readonly().exactOptional(),
      definitions: z.array(z.string()).readonly(),
      /** Their purposes by name, as far as they say so; missing without the right `spawn`, and from servers of an older version. */
      descriptions: z.record(z.string(), z.string()).exactOptional(),
      limits: z.object({ maxFrameBytes: z.number(), framesPerSecond: z.number(), maxSubscriptions: z.number() }),
    }),
  ok: () => z.object({ type: z.literal('ok'), id: z.string(), result: z.unknown() }),
  error: () =>
    z.object({
      type: z.literal('error'),
      id: z.string().exactOptional(),
      /** Set without `id`: the agent that cannot be reached; its frames continue as soon as it can be. */
      agentId: z.string().exactOptional(),
      ...errorInfoSchema().shape,
      /** For `AGENT_ELSEWHERE`: the address of the bridge of the process that has the agent, if it announced one, and the epoch of its lease. */
      elsewhere: z.object({ url: z.string().exactOptional(), epoch: z.number().exactOptional() }).exactOptional(),
    }),
  /** A record of an agent's log, or with `live` something beside it; `event.seq` is the cursor. */
  event: () =>
    z.object({
      type: z.literal('event'),
      agentId: z.string(),
      seq: seq(),
      event: z.unknown(),
      live: z.literal(true).exactOptional(),
    }),
  delta: () =>
    z.object({
      type: z.literal('delta'),
      agentId: z.string(),
      runId: z.string(),
      turnIndex: z.int().nonnegative(),
      kind: z.enum(['text', 'thinking']),
      /** Place of `text` in the reply so far, in UTF-16 units; 0 restarts it. */
      offset: z.int().nonnegative(),
      text: z.string(),
    }),
  /** Everything up to `seq` was sent: the events that follow are live. */
  caughtUp: () => z.object({ type: z.literal('caughtUp'), agentId: z.string(), seq: seq() }),
  /** The client reads too slowly: the events after `seq` are sent once it has read. */
  lagging: () => z.object({ type: z.literal('lagging'), agentId: z.string(), seq: seq() }),
  /** For watchers: agents that started or changed since the last such frame, and ids of those that no longer run. */
  agents: () =>
    z.object({
      type: z.literal('agents'),
      agents: z.array(agentSummarySchema()).readonly(),
      gone: z.array(z.string()).readonly(),
    }),
  /** The definitions that a gateway could not name in its `welcome`, as it reached no worker then. */
  definitions: () =>
    z.object({
      type: z.literal('definitions'),
      definitions: z.array(z.string()).readonly(),
      descriptions: z.record(z.string(), z.string()).exactOptional(),
    }),
  /** The server shuts down: come back later. */
  closing: () => z.object({ type: z.literal('closing') }),
  pong: () => z.object({ type: z.literal('pong'), id: z.string().exactOptional() }),
})
export type ServerFrame = z.infer<ReturnType<typeof serverFrames.schema>>
