import { hasCode } from '../../../src/protocol/errors.ts'
import type { Agent } from '../../../src/runtime/agents/agent.ts'

/** The agent, if the store has it. */
export async function found(agent: Promise<Agent>): Promise<Agent | undefined> {
  try {
    return await agent
  } catch (thrown) {
    if (hasCode(thrown, 'AGENT_NOT_FOUND')) return undefined
    throw thrown
  }
}
