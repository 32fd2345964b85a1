import { hasCode } from '../../../src/protocol/errors.ts'
import type { Agent } from '../../../src/runtime/agents/agent.ts'

/** Resolves with the agent, or `undefined` if the store does not have it. */
export async function found(agent: Promise<Agent>): Promise<Agent | undefined> {
  try {
    return await agent
  } catch (thrown) {
    if (hasCode(thrown, 'AGENT_NOT_FOUND')) return undefined
    throw thrown
  }
}
