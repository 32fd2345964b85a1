import { createHash } from 'node:crypto'
import type { AgentCommand, CheckedCommand } from '../../../../src/protocol/bridge/commands.ts'
import { hasCode, RuntimeError, type ErrorCode } from '../../../../src/protocol/errors.ts'
import type { SessionEntry } from '../../../wire/src/frames.ts'
import type { Right } from '../../../wire/src/rights.ts'
import { beyondWords, rightsFor } from './commandRights.ts'
import type { UnloggedEnd } from './dispatch.ts'
import { newOutOfReach } from './roles.ts'
import type { RunResult } from '../../../../src/protocol/runs/runResult.ts'
import { Agent } from '../../../../src/runtime/agents/agent.ts'
import type { Bridge } from './bridge.ts'
import { share } from './shareLink.ts'
import { defaultLimit, noneOfThem, pageOf, sessionEntry } from './listPages.ts'
import { pastPage } from './sharedPast.ts'
import { snapshotOf, storedSnapshot, summaryOf, visibleSnapshot } from './snapshots.ts'
import { visibleNodes, visibleSummary } from './visible.ts'
import type { Relay, Command } from './front.ts'
import { waitingFor } from './waitingAnswer.ts'
import { spendFor } from './spendAnswer.ts'
import { hostsWithin, readHost, sendToHost } from './hosts.ts'
import { forkAgent } from './forkAgent.ts'
import type { ClientSubscriptions } from './clientSubscriptions.ts'
import type { AgentAccess } from './agentAccess.ts'
import { defaultSearchLimit, type SearchHit } from '../../../../src/protocol/ports/logSearch.ts'

/** Answer to a search: records, and the sessions that have them. */
interface Found {
  readonly hits: readonly SearchHit[]
  readonly sessions: readonly SessionEntry[]
}

/** Finds records that match a text, among the records that a client may see. */
async function searchFor(
  access: AgentAccess,
  text: string,
  { limit = defaultSearchLimit, ...among }: Parameters<AgentAccess['hits']>[2] & { readonly limit?: number },
): Promise<Found> {
  const hits: SearchHit[] = []
  const sessions = new Map<string, SessionEntry | undefined>()
  for (const hit of await access.hits(text, limit, among)) {
    const { agentId } = hit
    if (!sessions.has(agentId)) {
      // Nothing of what is out of reach.
      const session = await access.session(agentId)
      sessions.set(agentId, session === undefined ? undefined : sessionEntry(session, await access.sourceOf(session)))
    }
    if (sessions.get(agentId) !== undefined) hits.push(hit)
    if (hits.length === limit) break
  }
  return { hits, sessions: [...sessions.values()].filter((session) => session !== undefined) }
}

type FrameOf<T extends Command['type']> = Extract<Command, { type: T }>

/** Objects that a command may use. */
export interface CommandContext {
  readonly bridge: Bridge
  readonly access: AgentAccess
  readonly subscriptions: ClientSubscriptions
  /** Passes commands to workers. Set for a client of a gateway. */
  readonly relay?: Relay
}

/** The answer to a command that has run. It is sent once the store has the command's records. The next command need not wait for that. */
export class DeferredAnswer {
  readonly answer: Promise<object>
  /** Resolves to the end of the command's run, if the log will not record it. */
  readonly ended: Promise<UnloggedEnd | undefined> | undefined

  constructor(answer: Promise<object>, ended?: Promise<UnloggedEnd | undefined>) {
    this.answer = answer
    this.ended = ended
    answer.catch(() => {})
  }
}

interface CommandHandler<T extends Command['type']> {
  /** Rights that the command needs. Of several, any one admits the client, and the command itself checks which one it needs. */
  readonly needs: Right | readonly Right[]
  /** Further right that the command needs because of some of its fields. */
  readonly needsToo?: (frame: FrameOf<T>) => Right | undefined
  /** Set if the command changes something. If it is sent again, it is answered but not repeated. */
  readonly isOnce?: true
  /** Runs the command and returns its result. `requestId` is the id of its request to an agent, and stays the same when it is sent again. */
  run(client: CommandContext, frame: FrameOf<T>, requestId: string): unknown
}

/** Resolves to `answer` once the store has an agent's records. If the store fails, the agent handles that by pausing. */
async function written<T extends object>(agent: Agent, answer: T): Promise<T> {
  try {
    await agent.durable()
  } catch {
    // Its events say so.
  }
  return answer
}

/** Error codes after which the agent and its run continue in another process. The log will record the end of the run. */
const goesOn: ReadonlySet<string | undefined> = new Set<ErrorCode>(['AGENT_DETACHED', 'STORE_LEASE_LOST'])

/** Returns the result of a run that has no `run.end` in the log because it never began or its agent crashed. */
const unlogged = (result: RunResult): RunResult | undefined =>
  !goesOn.has(result.error?.code) && (result.runId === '' || (result.stopReason === 'error' && result.turns === 0))
    ? result
    : undefined

/** `seq` of the last record of an agent that was just spawned. */
const firstSeq = 1

type AgentCommandType = Extract<Command['type'], AgentCommand['type']>

/** Returns the handler of a command to an agent. */
const forAgent = <T extends AgentCommandType>(type: T): CommandHandler<T> => ({
  needs: rightsFor[type],
  needsToo: beyondWords,
  isOnce: true,
  async run({ bridge, access }, frame, requestId) {
    const { id: _, ...command } = frame as { id: string; agentId: string } & CheckedCommand
    const answer = { requestId }
    if (command.type === 'agent.decide') await access.mayDecide(command.agentId, command)
    // What is in no log is here alone.
    if (bridge.dispatch !== undefined && access.find(command.agentId)?.incognito !== true) {
      await bridge.agents.checkReach(command.agentId, access)
      access.checkAdmitted()
      const { ended } = await bridge.dispatch.command(command, requestId)
      return new DeferredAnswer(Promise.resolve(answer), ended)
    }
    const agent = await access.agent(command.agentId).catch((thrown: unknown) => {
      if (command.type === 'agent.stop' && thrown instanceof RuntimeError && thrown.code === 'AGENT_STOPPED')
        return null
      throw thrown
    })
    if (agent === null) return answer
    if (await agent.wasAsked(requestId)) return new DeferredAnswer(written(agent, answer))
    const isDecision = command.type === 'agent.decide'
    if (isDecision && (await bridge.decisions.wasDecided(agent, command.callId, requestId))) return answer
    // By now something else may wait under the same id.
    if (isDecision) access.mustDecide(command, agent)
    access.checkAdmitted()
    if (command.type === 'agent.stop') return new DeferredAnswer(agent.stop().then(() => answer))
    const run = agent.dispatch(command, { requestId })
    return new DeferredAnswer(written(agent, answer), run?.result.then(unlogged))
  },
})

const toAgents = Object.fromEntries(
  Object.keys(rightsFor).map((type) => [type, forAgent(type as AgentCommandType)]),
) as unknown as { readonly [T in AgentCommandType]: CommandHandler<T> }

/** All commands, with the right and the effect of each. */
export const commandTable: { readonly [T in Command['type']]: CommandHandler<T> } = {
  ...toAgents,
  'agent.spawn': {
    needs: 'spawn',
    isOnce: true,
    async run({ bridge, access }, { definition, agentId, incognito = false, metadata }, requestId) {
      // Where the client names none, it is named after the command: one that is sent again finds it, on the next server too.
      const id = agentId ?? `${definition}-${createHash('sha256').update(requestId).digest('hex').slice(0, 16)}`
      try {
        if (bridge.dispatch !== undefined && !incognito) {
          const born = access.birth(definition, { id, ...(metadata === undefined ? {} : { metadata }) })
          return { agentId: id, seq: await bridge.dispatch.begin(born, requestId) }
        }
        const agent = await access.spawn(definition, { id, incognito, ...(metadata === undefined ? {} : { metadata }) })
        return new DeferredAnswer(written(agent, { agentId: agent.id, seq: agent.lastSeq }))
      } catch (thrown) {
        if (!hasCode(thrown, 'AGENT_EXISTS')) throw thrown
        if (agentId === undefined) return { agentId: id, seq: firstSeq }
        throw (await bridge.agents.isBeyond(id, access)) ? newOutOfReach() : thrown
      }
    },
  },
  'agent.list': {
    needs: 'see.messages',
    run: ({ access }, frame) => {
      const all = access.agents(frame.metadata)
      return {
        agents: pageOf(all, frame).map((agent) => visibleSummary(summaryOf(agent), access.view)),
        total: all.length,
      }
    },
  },
  'agent.snapshot': {
    needs: 'see.messages',
    async run({ bridge, access }, { agentId }) {
      const found = await bridge.agents.runningOrStored(agentId, access)
      const snapshot =
        found instanceof Agent
          ? snapshotOf(found)
          : storedSnapshot(found, bridge.definitions.get(found.definition), access.find(agentId))
      return visibleSnapshot(snapshot, access.view)
    },
  },
  'agent.conversation': {
    needs: 'see.messages',
    async run({ bridge, access }, { agentId, view }) {
      const { conversation } = await bridge.agents.runningOrStored(agentId, access)
      const nodes = view === 'trunk' ? conversation.trunk() : conversation.log()
      const seen = visibleNodes(nodes, await access.viewOf(agentId))
      return { head: conversation.head, nodes: seen, pins: conversation.pins(), masks: conversation.masks() }
    },
  },
  'agent.subscribe': {
    needs: 'see.messages',
    async run(
      { bridge, access, subscriptions },
      { agentId, fromSeq = 1, deltas = true, descendants = false, requests = false, captured = true },
    ) {
      if (requests) access.must('see.all', 'agent.subscribe: requests')
      const feed = await bridge.feedOf(agentId, access, fromSeq)
      const view = await access.viewOf(agentId).catch((thrown: unknown) => {
        bridge.releaseFeed(agentId)
        throw thrown
      })
      subscriptions.subscribe(feed, { fromSeq, deltas, descendants, requests, captured }, view)
      return { seq: feed.lastSeq }
    },
  },
  'agent.fork': {
    needs: 'spawn',
    isOnce: true,
    run: ({ bridge, access }, frame, requestId) => forkAgent(bridge, access, frame, requestId),
  },
  'agent.past': {
    needs: 'see.messages',
    run: ({ bridge, access }, { agentId, from }) => pastPage(bridge, access, agentId, from),
  },
  'agent.share': {
    needs: 'share',
    run: ({ bridge, access }, { agentId, ms }) => share(bridge, access, agentId, ms === undefined ? {} : { ms }),
  },
  'agent.unsubscribe': {
    needs: 'see.messages',
    run: ({ subscriptions }, { agentId }) => subscriptions.unsubscribe(agentId),
  },
  'agent.watch': { needs: 'see.messages', run: ({ subscriptions }) => subscriptions.watchRoster() },
  'agent.unwatch': { needs: 'see.messages', run: ({ subscriptions }) => subscriptions.unwatchRoster() },
  'worker.list': {
    needs: 'operate',
    run: async ({ relay }) => ({ workers: (await relay?.workers()) ?? [] }),
  },
  'host.send': {
    needs: 'control',
    isOnce: true,
    async run({ bridge, access }, { hostId, event, requestId: given }, requestId) {
      await sendToHost(bridge, access, { hostId, event, requestId: given ?? requestId })
      return {}
    },
  },
  'host.list': { needs: 'see.all', run: ({ bridge, access }) => ({ hosts: hostsWithin(bridge, access) }) },
  'host.read': {
    needs: 'see.all',
    run: ({ bridge, access }, asked) => new DeferredAnswer(readHost(bridge, access, asked)),
  },
  'session.list': {
    needs: 'see.messages',
    async run({ bridge, access }, frame) {
      // The source of a fork is told only to clients that may see the source.
      if (frame.forkedFrom !== undefined) await bridge.agents.checkReach(frame.forkedFrom, access)
      const { after, limit = defaultLimit } = frame
      const ids = await access.sessionIds(frame, { limit, ...(after === undefined ? {} : { after }) })
      if (ids === undefined) throw noneOfThem(frame)
      const sessions: SessionEntry[] = []
      for (const id of ids) {
        const session = await access.session(id)
        if (session === undefined) continue
        sessions.push(visibleSummary(sessionEntry(session, await access.sourceOf(session)), access.view))
      }
      return { sessions, total: await access.sessionCount(frame) }
    },
  },
  'session.search': {
    needs: 'see.all',
    run: ({ access }, { text, metadata, limit }) =>
      searchFor(access, text, { ...(metadata && { metadata }), ...(limit && { limit }) }),
  },
  'session.spend': { needs: 'see.all', run: ({ bridge, access }, frame) => spendFor(bridge, access, frame) },
  'waiting.list': {
    needs: 'see.messages',
    run: ({ bridge, access }, { metadata, limit }) =>
      waitingFor(bridge, access, { ...(metadata && { metadata }), ...(limit && { limit }) }),
  },
}
