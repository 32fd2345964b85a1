import type { AgentPolicy } from '../../machines/agentPolicy.ts'
import type { AgentDefinition, Callee } from './agentDefinition.ts'
import type { AnyTool } from '../tools/defineTool.ts'

/** Returns the names of the tools whose calls cannot be undone, and of the agents that have such a tool or may call an agent that has one. */
export function irreversibleNames(tools: ReadonlyMap<string, AnyTool>, agents: ReadonlyMap<string, Callee>): string[] {
  const acting = [...tools.values()].filter(isIrreversible).map(({ name }) => name)
  const calling = [...agents].filter(([, { definition }]) => canAct(definition)).map(([name]) => name)
  return [...acting, ...calling]
}

const isIrreversible = ({ effects }: AnyTool): boolean => effects === 'irreversible'

/** Returns true if the agent may call a tool whose calls cannot be undone. `seen`: definitions already visited, as agents may call one another. */
function canAct(definition: AgentDefinition, seen = new Set<AgentDefinition>()): boolean {
  if (seen.has(definition)) return false
  seen.add(definition)
  return (
    // What a source has is not known yet.
    definition.toolSources.length > 0 ||
    [...definition.tools.values()].some(isIrreversible) ||
    [...definition.agents.values()].some((agent) => canAct(agent.definition, seen))
  )
}

type Tools = ReadonlyMap<string, AnyTool>

export const reversibleNames = (tools: Tools): readonly string[] =>
  [...tools.values()].filter(({ effects }) => effects === 'reversible').map(({ name }) => name)

/** Returns the names of the tools that clients carry out; an empty object if there are none. */
export function externalTools(tools: Tools): Pick<AgentPolicy, 'external'> {
  const external = [...tools.values()].flatMap((tool) => (tool.external === true ? [tool.name] : []))
  return external.length === 0 ? {} : { external }
}

/** Returns the names of the tools that may end the run; an empty object if there are none. */
export function endingTools(tools: Tools): Pick<AgentPolicy, 'endsRun'> {
  const endsRun = [...tools.values()].flatMap((tool) => (tool.endsRun === true ? [tool.name] : []))
  return endsRun.length === 0 ? {} : { endsRun }
}

export const pollingNames = (tools: Tools): readonly string[] =>
  [...tools.values()].filter(({ polls }) => polls).map(({ name }) => name)
