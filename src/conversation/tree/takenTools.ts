import type { Fold } from '../../log/fold.ts'
import type { LogRecord } from '../../protocol/records.ts'
import type { OfferedToolSpec, ToolsChange } from '../../protocol/toolsChange.ts'

/** The tools and instructions that the sources of an agent offered last, according to its records. */
export interface TakenTools {
  /** Tools by name, in the order of the request. */
  readonly tools: ReadonlyMap<string, OfferedToolSpec>
  /** Instructions of each source in the system prompt, by source. */
  readonly instructions: ReadonlyMap<string, string>
}

export const nothingTaken: TakenTools = { tools: new Map(), instructions: new Map() }

/** Returns the tools taken after a record. Existing tools keep their place, new ones come last. Pure. */
export function takenAfter(taken: TakenTools, record: LogRecord): TakenTools {
  // A sub-agent that knows its caller's conversation is another agent.
  if (record.type === 'agent.created') return record.parent === undefined ? taken : nothingTaken
  return record.type === 'tools.changed' ? afterChange(taken, record) : taken
}

/** Stored form of taken tools. */
export interface KeptTaken {
  readonly tools: readonly (readonly [string, OfferedToolSpec])[]
  readonly instructions: readonly (readonly [string, string])[]
}

export const takenFold: Fold<TakenTools, KeptTaken> = {
  name: 'taken',
  initial: () => nothingTaken,
  on: { 'agent.created': takenAfter, 'tools.changed': takenAfter },
  keep: ({ tools, instructions }) => ({ tools: [...tools], instructions: [...instructions] }),
  resume: ({ tools, instructions }) => ({ tools: new Map(tools), instructions: new Map(instructions) }),
}

/** Returns the tools taken after a change. Pure. */
export function afterChange(taken: TakenTools, { added, removed, instructions = [] }: ToolsChange): TakenTools {
  const tools = new Map(taken.tools)
  for (const name of removed) tools.delete(name)
  for (const tool of added) tools.set(tool.name, tool)
  const texts = new Map(taken.instructions)
  for (const { source, text } of instructions)
    if (text === '') texts.delete(source)
    else texts.set(source, text)
  return { tools, instructions: texts }
}

export const namesOf = ({ tools }: TakenTools, source: string): string[] =>
  [...tools.values()].filter((tool) => tool.source === source).map(({ name }) => name)
