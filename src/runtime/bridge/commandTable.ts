import type { AgentCommand } from '../../protocol/commands.ts'
import { RuntimeError } from '../../protocol/errors.ts'
import type { AgentSummary, CheckedClientFrame, Role } from '../../protocol/frames.ts'
import type { Agent } from '../agent.ts'
import type { Bridge } from './bridge.ts'

type Command = Exclude<CheckedClientFrame, { type: 'hello' | 'ping' }>
type FrameOf<T extends Command['type']> = Extract<Command, { type: T }>

/** What a command may reach of the session that gives it. */
export interface Commanding {
  readonly bridge: Bridge
  subscribe(agentId: string, wanted: { fromSeq: number; deltas: boolean }): void
  unsubscribe(agentId: string): void
  reaches(agentId: string, path: readonly string[]): boolean
}

interface Right<T extends Command['type']> {
  readonly role: Role
  /** Gives the result; `requestId` names what it asks of an agent, the same when it is sent again. */
  run(session: Commanding, frame: FrameOf<T>, requestId: string): unknown
}

/** An agent the client may reach, woken from its log when it does not run. */
async function agentFor(session: Commanding, agentId: string): Promise<Agent> {
  const agent = await session.bridge.agentFor(agentId)
  if (!session.reaches(agent.id, agent.path)) {
    throw new RuntimeError('BRIDGE_FORBIDDEN', `This token does not reach agent "${agentId}".`)
  }
  return agent
}

const summaryOf = (agent: Agent): AgentSummary => ({
  agentId: agent.id,
  definition: agent.definition,
  path: agent.path,
  state: agent.state,
  seq: agent.lastSeq,
  head: agent.conversation.head,
  pendingApprovals: agent.approvals().map(({ key }) => key),
})

/** Gives an agent what a person asks of it. */
const ask = <T extends Extract<Command['type'], AgentCommand['type']>>(): Right<T> => ({
  role: 'drive',
  async run(session, frame, requestId) {
    const { id: _, ...command } = frame as { id: string; agentId: string } & AgentCommand
    const agent = await agentFor(session, command.agentId)
    if (await session.bridge.wasAsked(agent, requestId)) return { requestId }
    agent.dispatch(command, { requestId })
    return { requestId }
  },
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
    async run({ bridge }, { definition, agentId }) {
      const agent = await bridge.spawn(definition, agentId)
      return { agentId: agent.id }
    },
  },
  'agent.list': {
    role: 'observe',
    run: (session, { after, limit = 100 }) => {
      const all = session.bridge.agents().filter((agent) => session.reaches(agent.id, agent.path))
      const from = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1
      return { agents: all.slice(from, from + limit).map(summaryOf), total: all.length }
    },
  },
  'agent.snapshot': {
    role: 'observe',
    async run(session, { agentId }) {
      const agent = await agentFor(session, agentId)
      return { ...summaryOf(agent), tree: agent.tree(), approvals: agent.approvals(), pause: agent.pause }
    },
  },
  'agent.conversation': {
    role: 'observe',
    async run(session, { agentId, view }) {
      const { conversation } = await agentFor(session, agentId)
      return { head: conversation.head, nodes: view === 'trunk' ? conversation.trunk() : conversation.log() }
    },
  },
  'agent.subscribe': {
    role: 'observe',
    async run(session, { agentId, fromSeq = 1, deltas = true }) {
      const agent = await agentFor(session, agentId)
      session.subscribe(agent.id, { fromSeq, deltas })
      return { seq: agent.lastSeq }
    },
  },
  'agent.unsubscribe': { role: 'observe', run: (session, { agentId }) => session.unsubscribe(agentId) },
}
