import { nearestWord } from '../../protocol/checks/nearestWord.ts'
import type { AgentDefinition } from '../define/agentDefinition.ts'
import type { OfferedTool } from './turnOptions.ts'

/** Names of everything that the model may call. */
export const everyName = ({ toolSpecs }: AgentDefinition): string[] => toolSpecs.map(({ name }) => name)

/**
 * The names of what is offered, in the order of the definition: those given, and the tools of the brakes. Where a source may still bring
 * a tool (`mayCome`), an unknown name stands at the end, for when there is one.
 *
 * @throws Error naming the tools that the definition does not have.
 */
export function offeredNames(definition: AgentDefinition, tools: readonly OfferedTool[], mayCome: boolean): string[] {
  const names = everyName(definition)
  const wanted = new Set(tools.map((tool) => (typeof tool === 'string' ? tool : tool.name)))
  const unknown = [...wanted].filter((name) => !names.includes(name))
  if (!mayCome) for (const name of unknown) throw new Error(noSuch('tool', name, names))
  const known = names.filter((name) => wanted.has(name) || definition.turns.always.includes(name))
  return [...known, ...unknown]
}

/** Why a name cannot be taken, and which one may have been meant. */
export function noSuch(what: string, name: string, names: readonly string[]): string {
  const nearest = nearestWord(name, names)
  const there = names.length === 0 ? `it has no ${what}s` : `it has ${names.join(', ')}`
  return `the definition has no ${what} ${JSON.stringify(name)}: ${nearest === undefined ? there : `did you mean ${JSON.stringify(nearest)}?`}`
}
