import type { Run } from '../runs/run.ts'
import { decideCall, type ChatAgent } from './chatAgent.ts'
import type { AgentLine } from './chatCommands.ts'

/** What came of a line: a note for the person, and the run it began. */
export interface Obeyed {
  readonly note?: string
  readonly run?: Run
}

type Deeds = {
  readonly [T in AgentLine['type']]: (agent: ChatAgent, line: Extract<AgentLine, { type: T }>) => Promise<Obeyed>
}

async function decide(agent: ChatAgent, decision: 'approve' | 'deny', reason?: string): Promise<Obeyed> {
  const [call] = agent.approvals()
  if (call === undefined) return { note: 'no call waits for an approval' }
  await decideCall(agent, call, decision, reason)
  return { note: `${decision === 'approve' ? 'allowed' : 'denied'}: ${call.name}` }
}

const deeds: Deeds = {
  async steer(agent, { text }) {
    await agent.steer(text)
    return { note: 'given to the agent before its next step' }
  },
  async followUp(agent, { text }) {
    await agent.followUp(text)
    return { note: 'given to the agent once it is done' }
  },
  async abort(agent) {
    if (agent.state === 'idle') return { note: 'nothing is under way' }
    await agent.abort()
    return {}
  },
  resume: async (agent) => ({ run: agent.resume() }),
  approve: (agent) => decide(agent, 'approve'),
  deny: (agent, { reason }) => decide(agent, 'deny', reason),
}

/** Does what a line of a chat asks of the agent. Rejects with what the agent throws. */
export const obeyLine = (agent: ChatAgent, line: AgentLine): Promise<Obeyed> =>
  (deeds[line.type] as (agent: ChatAgent, line: AgentLine) => Promise<Obeyed>)(agent, line)
