import type { Agent } from '../../../../src/runtime/agents/agent.ts'
import { standingWords } from '../../../charts/src/standing.ts'

/** Describes the current work of each running sub-agent: `coder writing`, `releaser waits for you`. */
export function childrenOf(agent: Pick<Agent, 'pending' | 'tree'>): readonly string[] {
  const waiting = new Set(agent.pending().map(({ agentId }) => agentId))
  return agent
    .tree()
    .children.map(({ id, definition, state }) => `${definition} ${standingWords({ state, waits: waiting.has(id) })}`)
}
