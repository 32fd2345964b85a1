import type { LogRecord } from '../../../../../../src/protocol/records.ts'
import { oneLine } from '../words/shortText.ts'
import { nameOf } from './agentNames.ts'
import type { Directory } from './directory.ts'

/** Maximum length of a name made from a call, in UTF-16 units. */
const mostName = 200

interface Called {
  looked: number
  readonly names: Map<string, string>
}

const read = new WeakMap<readonly LogRecord[], Called>()

/** Returns the longest text among the arguments of a call: the task of its sub-agent. */
function taskIn(input: unknown): string {
  const given = typeof input === 'object' && input !== null ? Object.values(input) : []
  const texts = given.filter((value) => typeof value === 'string')
  return texts.reduce((longest, text) => (text.length > longest.length ? text : longest), '').trim()
}

/** Returns the task of each sub-agent of a log, by its id. The array of records may grow. Each record is read once. */
export function calledFor(records: readonly LogRecord[]): ReadonlyMap<string, string> {
  const known = read.get(records) ?? { looked: 0, names: new Map<string, string>() }
  read.set(records, known)
  for (; known.looked < records.length; known.looked++) {
    const record = records[known.looked]!
    if (record.type !== 'tool.start' || record.childId === undefined) continue
    const task = taskIn(record.input)
    if (task !== '') known.names.set(record.childId, oneLine(task, mostName))
  }
  return known.names
}

/**
 * Returns the name of an agent below the one whose log this is: its title while it runs or is listed, its task once
 * it has ended, or else its id. Call it where signals are followed.
 */
export function nameInTree(
  { agents, left, sessions }: Pick<Directory, 'agents' | 'left' | 'sessions'>,
  records: readonly LogRecord[],
  agentId: string,
): string {
  const named =
    agents.value.get(agentId) ??
    left.value.get(agentId) ??
    sessions.value?.find((session) => session.agentId === agentId)
  const name = named === undefined ? agentId : nameOf(named)
  return name === agentId ? (calledFor(records).get(agentId) ?? agentId) : name
}
