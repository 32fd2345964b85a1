import { nearestWord } from '../../protocol/checks/nearestWord.ts'
import type { AgentDefinition } from '../define/agentDefinition.ts'
import { foundSpecs } from '../parts/deferred/foundSpecs.ts'
import type { OfferedTool } from './turnOptions.ts'

/** Returns the names of all tools that requests list. */
export const everyName = ({ toolSpecs }: AgentDefinition): string[] => toolSpecs.map(({ name }) => name)

/** Returns the names of all tools that the model may call. */
export const callableNames = (definition: AgentDefinition): string[] => [
  ...everyName(definition),
  ...foundSpecs(definition).map(({ name }) => name),
]

/**
 * Returns the names of the offered tools in the order of the definition: the given names, and the tools of the brakes. If a source may still bring a
 * tool (`mayCome`), an unknown name is put at the end.
 * @throws Error naming tools that the definition does not have
 */
export function offeredNames(definition: AgentDefinition, tools: readonly OfferedTool[], mayCome: boolean): string[] {
  const names = callableNames(definition)
  const wanted = new Set(tools.map((tool) => (typeof tool === 'string' ? tool : tool.name)))
  const unknown = [...wanted].filter((name) => !names.includes(name))
  if (!mayCome) for (const name of unknown) throw new Error(noSuch('tool', name, names))
  const known = names.filter((name) => wanted.has(name) || definition.turns.always.includes(name))
  return [...known, ...unknown]
}

/** Returns the reason why a name is invalid, with a similar name. */
export function noSuch(what: string, name: string, names: readonly string[]): string {
  const nearest = nearestWord(name, names)
  const there = names.length === 0 ? `it has no ${what}s` : `it has ${names.join(', ')}`
  return `the definition has no ${what} ${JSON.stringify(name)}: ${nearest === undefined ? there : `did you mean ${JSON.stringify(nearest)}?`}`
}
