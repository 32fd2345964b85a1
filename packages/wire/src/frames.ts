import { z } from 'zod'
import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import { lazily } from '../../../src/protocol/lazily.ts'
import { agentCommands } from '../../../src/protocol/bridge/commands.ts'
import { errorInfoSchema } from '../../../src/protocol/errorInfo.ts'
import { agentIdSchema, nodeIdSchema } from '../../../src/protocol/ids.ts'
import { metadataSchema } from '../../../src/protocol/metadata.ts'
import { usageSchema } from '../../../src/protocol/messages.ts'
import { limitsSchema } from '../../../src/protocol/runs/runLimits.ts'
import { lastRunSchema } from '../../../src/protocol/runs/lastRun.ts'
import { spentSchema } from '../../../src/protocol/records.ts'
import { roleSchema } from './rightsSchema.ts'
import { variants } from '../../../src/protocol/bridge/variants.ts'

const seq = lazily(() => z.int().nonnegative())
/** Id made by the client, unique in its session. A command that is sent again under the same id is carried out once. */
const commandId = lazily(() => z.string().min(1).max(128))
const asked = lazily(() => ({ id: commandId() }))
const ofAgent = lazily(() => ({ ...asked(), agentId: agentIdSchema() }))

const ofHost = lazily(() => ({ ...asked(), hostId: agentIdSchema() }))

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
      /** A client's secret that keys its session id in place of the token, so that the client keeps its session when its token changes. */
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
      /** True to begin an incognito agent. None of its data is stored, no other client sees it, and it ends with the client's session. */
      incognito: z.boolean().exactOptional(),
      /** Metadata attached to the agent for good. The server may add its own. */
      metadata: metadataSchema().exactOptional(),
    }),
  'agent.list': () =>
    onlyFields({
      ...asked(),
      type: z.literal('agent.list'),
      /** Only agents that have all of these values. */
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
      /** The first record to send; default: from the beginning. */
      fromSeq: z.int().positive().exactOptional(),
      deltas: z.boolean().exactOptional(),
      descendants: z.boolean().exactOptional(),
      /** True to also send the requests to the model (`turn.request`). Each contains the whole conversation. Default `false`. */
      requests: z.boolean().exactOptional(),
      /** Sends captured requests of the log (`turn.captured`) in full. `false`: `record.withheld` with `captured` instead. Default `true`. */
      captured: z.boolean().exactOptional(),
    }),
  'agent.unsubscribe': () => onlyFields({ ...ofAgent(), type: z.literal('agent.unsubscribe') }),
  /** Forks an agent: begins a session that shares the agent's past up to the step of a node, such as `n12`. */
  'agent.fork': () => onlyFields({ ...ofAgent(), type: z.literal('agent.fork'), at: z.string().max(32) }),
  /** Asks for the past that a fork shares with its source, page by page, even if the source itself is out of reach. */
  'agent.past': () =>
    onlyFields({
      ...ofAgent(),
      type: z.literal('agent.past'),
      /** Position to continue from, taken from the previous answer; default: the beginning. */
      from: onlyFields({ part: z.int().nonnegative(), seq: z.int().positive() }).exactOptional(),
    }),
  /** Asks for a token that grants read access to the agent and its descendants. */
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
  /** Asks for the sessions of the store, running or not, the most recently written first. */
  'session.list': () =>
    onlyFields({
      ...asked(),
      type: z.literal('session.list'),
      /** Only sessions that have all of these values. */
      metadata: metadataSchema().exactOptional(),
      /** Only sessions whose agents run on the server, or only those whose agents do not. */
      running: z.boolean().exactOptional(),
      /** Only forks of this session's own log. */
      forkedFrom: agentIdSchema().exactOptional(),
      after: agentIdSchema().exactOptional(),
      limit: z.int().positive().max(1_000).exactOptional(),
    }),
  /** Searches the sessions of the store for records that contain all of the words. Best matches come first. */
  'session.search': () =>
    onlyFields({
      ...asked(),
      type: z.literal('session.search'),
      text: z.string().max(1_000),
      /** Only in sessions that have all of these values. */
      metadata: metadataSchema().exactOptional(),
      /** Maximum number of records; default: 20. */
      limit: z.int().positive().max(100).exactOptional(),
    }),
  /** Asks for the sums that the store's sessions spent on models. Times are rounded down to whole five minutes. */
  'session.spend': () =>
    onlyFields({
      ...asked(),
      type: z.literal('session.spend'),
      /** The groups of the answer; default: `session`, where a tree of agents is one group. */
      by: z.enum(['session', 'user', 'model', 'definition', 'metadata']).exactOptional(),
      /** With `by: 'metadata'`: the key whose values make the groups. */
      key: z.string().min(1).max(64).exactOptional(),
      /** Only spending from this time on, in epoch milliseconds. */
      since: z.number().nonnegative().exactOptional(),
      /** Length of a slice in milliseconds, a multiple of five minutes. Adds a series of costs to each group. Needs `since`. */
      every: z.int().positive().multipleOf(300_000).exactOptional(),
      /** Only sessions that have all of these values. */
      metadata: metadataSchema().exactOptional(),
      /** Maximum number of groups; default: 20. */
      limit: z.int().positive().max(100).exactOptional(),
    }),
  /** Asks for everything that waits for people, at running and stored agents, the longest wait first. No agent is woken. */
  'waiting.list': () =>
    onlyFields({
      ...asked(),
      type: z.literal('waiting.list'),
      /** Only at agents that have all of these values. */
      metadata: metadataSchema().exactOptional(),
      /** Maximum number of agents; default: 100. */
      limit: z.int().positive().max(1_000).exactOptional(),
    }),
  /** Sends an event to a durable machine. An event sent again under the same id, or the same `requestId` in any session, is taken once. */
  'host.send': () =>
    onlyFields({
      ...ofHost(),
      type: z.literal('host.send'),
      event: z.looseObject({ type: z.string().max(1_000) }),
      requestId: commandId().exactOptional(),
    }),
  /** Asks for the machines that are open on the server, and the last 20 that ended there. */
  'host.list': () => onlyFields({ ...asked(), type: z.literal('host.list') }),
  /**
   * Asks for the state of a machine, which is opened if needed. With `after`, the answer waits for a record
   * after that one, at most 20 s. With `records`, it has the newest 200 records after that one, as texts.
   */
  'host.read': () =>
    onlyFields({
      ...ofHost(),
      type: z.literal('host.read'),
      after: seq().exactOptional(),
      records: z.boolean().exactOptional(),
    }),
  /**
   * Asks for the processes behind a gateway; there are none if the server is not a gateway. Only for clients that may see all agents and have the
   * right `operate`.
   */
  'worker.list': () => onlyFields({ ...asked(), type: z.literal('worker.list') }),
  ping: () => onlyFields({ type: z.literal('ping'), id: commandId().exactOptional() }),
})
export type ClientFrame = z.input<ReturnType<typeof clientFrames.schema>>
export type CheckedClientFrame = z.output<ReturnType<typeof clientFrames.schema>>

/** A process behind a gateway in which agents run. */
export const workerEntrySchema = lazily(() =>
  z.object({
    /** Address of the process, such as `worker-1.internal:4100`. The summaries of its agents use the same name. */
    name: z.string(),
    /** Name of the process and its start time, if the store knows them. */
    words: z.string().exactOptional(),
  }),
)
export type WorkerEntry = z.infer<ReturnType<typeof workerEntrySchema>>

/** Summary of an agent in a list or a snapshot. */
export const agentSummarySchema = lazily(() =>
  z.object({
    agentId: agentIdSchema(),
    definition: z.string(),
    /** Name of the definition that answers now, if the conversation was handed over to another one. */
    active: z.string().exactOptional(),
    path: z.array(z.string()).readonly(),
    state: z.string(),
    /** `seq` of the agent's last record. */
    seq: seq(),
    head: nodeIdSchema().nullable(),
    /** Keys of calls that wait for an approval, at the agent itself and at its descendants. */
    pendingApprovals: z.array(z.string()).readonly(),
    /** Keys of everything that waits for people; missing from servers of an older version. */
    pending: z.array(z.string()).readonly().exactOptional(),
    /** Usage since the agent was created, including its sub-agents. */
    spent: spentSchema(),
    /** `spent` with the usage of sub-agents that still run; missing if it is the same. */
    treeSpent: spentSchema().exactOptional(),
    /** Title of at most 60 characters on one line: the task from its caller, or its first prompt. */
    title: z.string().exactOptional(),
    /** End of the agent's last run; missing before the first end, and during a run. */
    last: lastRunSchema().exactOptional(),
    /** Start of the current run, in epoch milliseconds. */
    busySince: z.number().exactOptional(),
    /** Limits of the current run, `{}` without any; missing without a current run, and from servers of an older version. */
    limits: limitsSchema().exactOptional(),
    /** Time at which the agent continues by itself, by a schedule or after a sleep, in epoch milliseconds; missing if it does not. */
    due: z.number().exactOptional(),
    /** Time of the agent's last record, in epoch milliseconds. */
    activeAt: z.number().exactOptional(),
    /** The calls under way, in a few words: `run_command npm test`. */
    doing: z.string().exactOptional(),
    /** Tokens of the agent's last request, and its model's context window if known. */
    contextTokens: z.object({ used: z.number(), window: z.number().exactOptional() }).exactOptional(),
    metadata: metadataSchema().exactOptional(),
    /** The process that runs the agent, as named by `worker.list`. Set in a gateway's lists, for clients that may see all agents. */
    worker: z.string().exactOptional(),
  }),
)
export type AgentSummary = z.infer<ReturnType<typeof agentSummarySchema>>

/** A session of the store as shown in a list. Times are in epoch milliseconds. */
export const sessionEntrySchema = lazily(() =>
  z.object({
    agentId: z.string(),
    /** Set for the log of a durable machine: `definition` is then the machine's name. */
    kind: z.literal('machine').exactOptional(),
    definition: z.string(),
    path: z.array(z.string()).readonly(),
    status: z.enum(['running', 'completed', 'aborted', 'rejected', 'paused', 'failed']),
    /** True if the agent was stopped for good. */
    isStopped: z.boolean(),
    createdAt: z.number(),
    updatedAt: z.number(),
    runs: z.int().nonnegative(),
    turns: z.int().nonnegative(),
    usage: usageSchema(),
    costUsd: z.number(),
    /** Title of the session, as in an agent's summary. */
    title: z.string().exactOptional(),
    last: lastRunSchema().exactOptional(),
    /** The session it was forked from. */
    forkedFrom: z.string().exactOptional(),
    metadata: metadataSchema().exactOptional(),
    /** Error that prevents the log from being read to the end. */
    error: errorInfoSchema().exactOptional(),
  }),
)
export type SessionEntry = z.infer<ReturnType<typeof sessionEntrySchema>>

/** Frames that a server sends. Frames that are ready at the same time are sent as one message, an array. */
export const serverFrames = variants({
  welcome: () =>
    z.object({
      type: z.literal('welcome'),
      sessionId: z.string(),
      /** The granted role; missing if individual rights were granted. */
      role: roleSchema().exactOptional(),
      /** The client's rights; missing from servers of an older version. */
      may: z.array(z.string()).readonly().exactOptional(),
      definitions: z.array(z.string()).readonly(),
      /** Descriptions of the definitions that have one, by name; missing without the right `spawn`, and from servers of an older version. */
      descriptions: z.record(z.string(), z.string()).exactOptional(),
      /** Cost of a tree of agents in US dollars from which it is shown as alarming, if the server has such a limit. */
      alertUsd: z.number().positive().exactOptional(),
      limits: z.object({ maxFrameBytes: z.number(), framesPerSecond: z.number(), maxSubscriptions: z.number() }),
    }),
  ok: () => z.object({ type: z.literal('ok'), id: z.string(), result: z.unknown() }),
  error: () =>
    z.object({
      type: z.literal('error'),
      id: z.string().exactOptional(),
      /** Id of an agent that cannot be reached, set without `id`. Its frames continue once it can be reached. */
      agentId: z.string().exactOptional(),
      ...errorInfoSchema().shape,
      /** Data of `AGENT_ELSEWHERE`: the bridge address of the process that has the agent, if it announced one, and the epoch of its lease. */
      elsewhere: z.object({ url: z.string().exactOptional(), epoch: z.number().exactOptional() }).exactOptional(),
    }),
  /** A record of an agent's log or, with `live`, an event that is not in the log. `event.seq` is the cursor. */
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
      /** Position of `text` in the reply so far, in UTF-16 units; 0 restarts it. */
      offset: z.int().nonnegative(),
      text: z.string(),
    }),
  /** Signals that everything up to `seq` was sent. The events that follow are live. */
  caughtUp: () => z.object({ type: z.literal('caughtUp'), agentId: z.string(), seq: seq() }),
  /** Signals that the client reads too slowly. The events after `seq` are sent once it has caught up. */
  lagging: () => z.object({ type: z.literal('lagging'), agentId: z.string(), seq: seq() }),
  /** Tells watchers which agents started or changed since the last frame of this type, and which no longer run. */
  agents: () =>
    z.object({
      type: z.literal('agents'),
      agents: z.array(agentSummarySchema()).readonly(),
      gone: z.array(z.string()).readonly(),
    }),
  /** The definitions that a gateway could not name in its `welcome`, because it reached no worker at that time. */
  definitions: () =>
    z.object({
      type: z.literal('definitions'),
      definitions: z.array(z.string()).readonly(),
      descriptions: z.record(z.string(), z.string()).exactOptional(),
    }),
  /** Says that the server shuts down, and that clients should reconnect later. */
  closing: () => z.object({ type: z.literal('closing') }),
  pong: () => z.object({ type: z.literal('pong'), id: z.string().exactOptional() }),
})
export type ServerFrame = z.infer<ReturnType<typeof serverFrames.schema>>
