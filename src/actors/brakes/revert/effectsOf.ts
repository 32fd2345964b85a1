import type { EffectsOf } from '../../../conversation/brakes/revert/planUndo.ts'
import type { AgentDefinition } from '../../define/agentDefinition.ts'

/** Returns a function that gives the effects of an agent's tools and sub-agents, by name. */
export const effectsOf =
  ({ tools, agents }: AgentDefinition): EffectsOf =>
  (name) => {
    const agent = agents.get(name)
    if (agent !== undefined) return mayChange(agent.definition) ? 'agent' : 'none'
    const tool = tools.get(name)
    // Only what calls others can undo something and is safe to repeat.
    return tool?.undo !== undefined && tool.effects === 'idempotent' ? 'calls' : tool?.effects
  }

/** Returns true if calls of the agent may change anything. `seen`: definitions already visited, because agents may call one another. */
function mayChange(definition: AgentDefinition, seen = new Set<AgentDefinition>()): boolean {
  if (seen.has(definition)) return false
  seen.add(definition)
  return (
    // What a source has is not known yet.
    definition.toolSources.length > 0 ||
    [...definition.tools.values()].some(({ effects }) => effects !== 'none') ||
    [...definition.agents.values()].some((agent) => mayChange(agent.definition, seen))
  )
}
