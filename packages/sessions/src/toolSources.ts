import { namesOf, nothingTaken, takenAfter } from '../../../src/conversation/tree/takenTools.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'

/** A source of an agent's tools, according to the log. */
export interface LoggedSource {
  readonly source: string
  /** Names of the tools that it provides. */
  readonly tools: readonly string[]
  /** Text about the source in the system prompt, if any. */
  readonly instructions?: string
  /** Fault of the source when it last changed. */
  readonly trouble?: string
}

/** Returns the sources that provide something to an agent, or had trouble when they last changed. Pure. */
export function toolSourcesOf(records: Iterable<LogRecord>): readonly LoggedSource[] {
  let taken = nothingTaken
  let troubles: ReadonlyMap<string, string> = new Map()
  for (const record of records) {
    taken = takenAfter(taken, record)
    if (taken === nothingTaken) troubles = new Map()
    if (record.type !== 'tools.changed') continue
    troubles = new Map((record.trouble ?? []).map(({ source, message }) => [source, message]))
  }
  const names = new Set([
    ...[...taken.tools.values()].map(({ source }) => source),
    ...taken.instructions.keys(),
    ...troubles.keys(),
  ])
  return [...names].map((source) => {
    const instructions = taken.instructions.get(source)
    const trouble = troubles.get(source)
    return {
      source,
      tools: namesOf(taken, source),
      ...(instructions === undefined ? {} : { instructions }),
      ...(trouble === undefined ? {} : { trouble }),
    }
  })
}
