import { createHash } from 'node:crypto'
import type { AgentCommand } from '../../protocol/commands.ts'
import { RuntimeError } from '../../protocol/errors.ts'
import type { CheckedClientFrame, Role, SessionEntry } from '../../protocol/frames.ts'
import type { RunResult } from '../../runs/run.ts'
import { Agent } from '../../runtime/agents/agent.ts'
import type { Bridge } from './bridge.ts'
import type { SessionSummary } from '../../sessions/listSessions.ts'
import { outwardError, outwardReason } from './outwardError.ts'
import { snapshotOf } from './restingAgent.ts'
import { summaryOf } from './roster.ts'
import type { Source } from './source.ts'
import type { Wanted } from './subscription.ts'
import type { Visit } from './visit.ts'

type Command = Exclude<CheckedClientFrame, { type: 'hello' | 'ping' }>
type FrameOf<T extends Command['type']> = Extract<Command, { type: T }>

/** What a command may reach of the session that gives it. */
export interface Commanding {
  readonly bridge: Bridge
  readonly visit: Visit
  subscribe(source: Source, wanted: Wanted): void
  unsubscribe(agentId: string): void
  watch(): void
  unwatch(): void
}

/** A command that was carried out. The next one need not wait until the store has what it did, which is when it is answered. */
export class Accepted {
  readonly answer: Promise<object>
  /** How its run ended, when the log will not tell. */
  readonly ended: Promise<RunResult | undefined> | undefined

  constructor(answer: Promise<object>, ended?: Promise<RunResult | undefined>) {
    this.answer = answer
    this.ended = ended
    answer.catch(() => {})
  }
}

interface Right<T extends Command['type']> {
  readonly role: Role
  /** It changes something: sent again, it is answered and not carried out again. */
  readonly isOnce?: true
  /** Gives the result; `requestId` names what it asks of an agent, the same when it is sent again. */
  run(session: Commanding, frame: FrameOf<T>, requestId: string): unknown
}

/** Resolves once the store has what an agent did; a store that fails is a matter of the agent, which pauses. */
async function written<T extends object>(agent: Agent, answer: T): Promise<T> {
  try {
    await agent.durable()
  } catch {
    // Its events say so.
  }
  return answer
}

/** A run that never began, or whose agent crashed: it has no `run.end` in the log. */
const unlogged = (result: RunResult): RunResult | undefined =>
  result.runId === '' || (result.stopReason === 'error' && result.turns === 0) ? result : undefined

/** `seq` of the last record of an agent that was just spawned. */
const firstSeq = 1

/** Gives an agent what a person asks of it. */
const ask = <T extends Extract<Command['type'], AgentCommand['type']>>(): Right<T> => ({
  role: 'drive',
  isOnce: true,
  async run(session, frame, requestId) {
    const { id: _, ...command } = frame as { id: string; agentId: string } & AgentCommand
    const answer = { requestId }
    const agent = await session.visit.agent(command.agentId).catch((thrown: unknown) => {
      if (command.type === 'agent.stop' && thrown instanceof RuntimeError && thrown.code === 'AGENT_STOPPED')
        return null
      throw thrown
    })
    if (agent === null) return answer
    if (await agent.wasAsked(requestId)) return new Accepted(written(agent, answer))
    if (command.type === 'agent.decide') {
      const { decisions } = session.bridge
      if (await decisions.wasDecided(agent, command.callId, requestId)) return answer
    }
    if (command.type === 'agent.stop') return new Accepted(agent.stop().then(() => answer))
    const run = agent.dispatch(command, { requestId })
    return new Accepted(written(agent, answer), run?.result.then(unlogged))
  },
})

/** Those that come after one of them, 100 unless told. @throws RuntimeError `INVALID_OPTION`: it is none of them. */
function pageOf<T>(
  all: readonly T[],
  { type, after, limit = 100 }: FrameOf<'agent.list' | 'session.list'>,
  idOf: (item: T) => string,
): readonly T[] {
  const at = after === undefined ? -1 : all.findIndex((item) => idOf(item) === after)
  if (at === -1 && after !== undefined) {
    throw new RuntimeError('INVALID_OPTION', `${type}: after: "${after}" is none of them.`)
  }
  return all.slice(at + 1, at + 1 + limit)
}

const entryOf = (session: SessionSummary): SessionEntry => ({
  agentId: session.id,
  definition: session.definition,
  path: session.path,
  status: session.status,
  isStopped: session.isStopped,
  createdAt: session.createdAt,
  updatedAt: session.updatedAt,
  runs: session.runs,
  turns: session.turns,
  usage: session.usage,
  costUsd: session.costUsd,
  ...(session.forkedFrom === undefined ? {} : { forkedFrom: session.forkedFrom.agentId }),
  ...(session.error === undefined ? {} : { error: outwardError(session.error) }),
})

/** Every command: who may give it, and what it does. */
export const rights: { readonly [T in Command['type']]: Right<T> } = {
  'agent.prompt': ask(),
  'agent.interrupt': ask(),
  'agent.steer': ask(),
  'agent.followUp': ask(),
  'agent.abort': ask(),
  'agent.resume': ask(),
  'agent.stop': ask(),
  'agent.revert': ask(),
  'agent.decide': ask(),
  'agent.spawn': {
    role: 'admin',
    isOnce: true,
    async run({ visit }, { definition, agentId }, requestId) {
      // Where the client names none, it is named after the command: one that is sent again finds it, on the next server too.
      const id = agentId ?? `${definition}-${createHash('sha256').update(requestId).digest('hex').slice(0, 16)}`
      try {
        const agent = await visit.spawn(definition, id)
        return new Accepted(written(agent, { agentId: agent.id, seq: agent.lastSeq }))
      } catch (thrown) {
        const isOwn = agentId === undefined && thrown instanceof RuntimeError && thrown.code === 'AGENT_EXISTS'
        if (isOwn) return { agentId: id, seq: firstSeq }
        throw thrown
      }
    },
  },
  'agent.list': {
    role: 'observe',
    run: ({ visit }, frame) => {
      const all = visit.agents()
      return { agents: pageOf(all, frame, ({ id }) => id).map(summaryOf), total: all.length }
    },
  },
  'agent.snapshot': {
    role: 'observe',
    async run(session, { agentId }) {
      const found = await session.bridge.runningOrSession(agentId, session.visit.reach)
      if (!(found instanceof Agent)) return snapshotOf(found)
      return {
        ...summaryOf(found),
        tree: found.tree(),
        approvals: found.approvals(),
        pause: found.pause === null ? null : outwardReason(found.pause),
      }
    },
  },
  'agent.conversation': {
    role: 'observe',
    async run(session, { agentId, view }) {
      const { conversation } = await session.bridge.runningOrSession(agentId, session.visit.reach)
      return { head: conversation.head, nodes: view === 'trunk' ? conversation.trunk() : conversation.log() }
    },
  },
  'agent.subscribe': {
    role: 'observe',
    async run(session, { agentId, fromSeq = 1, deltas = true, descendants = false }) {
      let source = await session.bridge.sourceOf(agentId, session.visit.reach)
      // Its last listener may have left in this very moment.
      while (source.isClosed) source = await session.bridge.sourceOf(agentId, session.visit.reach)
      session.subscribe(source, { fromSeq, deltas, descendants })
      return { seq: source.lastSeq }
    },
  },
  'agent.unsubscribe': { role: 'observe', run: (session, { agentId }) => session.unsubscribe(agentId) },
  'agent.watch': { role: 'observe', run: (session) => session.watch() },
  'agent.unwatch': { role: 'observe', run: (session) => session.unwatch() },
  'session.list': {
    role: 'observe',
    async run({ visit }, frame) {
      const ids = await visit.sessionIds()
      const sessions: SessionEntry[] = []
      for (const id of pageOf(ids, frame, (own) => own)) {
        const session = await visit.session(id)
        if (session !== undefined) sessions.push(entryOf(session))
      }
      return { sessions, total: ids.length }
    },
  },
}
