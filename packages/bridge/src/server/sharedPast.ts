import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { eventOf, type AgentEvent } from '../../../../src/protocol/events.ts'
import type { RecordOf } from '../../../../src/protocol/records.ts'
import { checkVersion } from '../../../../src/protocol/upgradeRecord.ts'
import { historyParts, type HistoryPart } from '../../../../src/log/readHistory.ts'
import type { AgentAccess } from './agentAccess.ts'
import type { Bridge } from './bridge.ts'
import { viewOfAgent, visibleEvent } from './visible.ts'

/** A position in the past of a fork: the index of the log, oldest first, and the record to continue with. */
interface PastPlace {
  readonly part: number
  readonly seq: number
}

/** Some of the records that a fork shares with its sources, all of one log. */
interface PastPage {
  readonly part: number
  readonly records: readonly AgentEvent[]
  /** Start of the next page; missing after the last one. */
  readonly next?: PastPlace
}

/** Maximum number of characters of records on a page. A longer record is a page by itself. */
const pageChars = 1024 * 1024

const begin: PastPlace = { part: 0, seq: 1 }

/**
 * Returns a page of the records that a fork shares with its sources. A client that may read the fork may read
 * these, and nothing else of the sources. Rejects with `BRIDGE_FORBIDDEN` if the fork is out of reach,
 * `AGENT_NOT_FOUND` if a source is gone, and `INVALID_OPTION` for a place beyond the fork's past.
 */
export async function pastPage(
  bridge: Bridge,
  access: AgentAccess,
  agentId: string,
  from: PastPlace = begin,
): Promise<PastPage> {
  const parts = await sharedParts(bridge, access, agentId)
  const part = parts[from.part]
  if (part === undefined && from.part === 0) return { part: 0, records: [] }
  if (part === undefined || from.seq > part.upTo)
    throw new RuntimeError('INVALID_OPTION', `agent.past: from: the past of "${agentId}" has no such place.`)
  const { path } = part.created
  const records: AgentEvent[] = []
  let chars = 0
  for await (const record of bridge.store.read(part.agentId, from.seq)) {
    if (record.seq > part.upTo) break
    checkVersion(part.agentId, record)
    const logged = eventOf(record, { agentId: part.agentId, path })
    const event = visibleEvent(logged, viewOfAgent(access.view, part.created)) ?? logged
    chars += JSON.stringify(event).length
    if (records.length > 0 && chars > pageChars) return { part: from.part, records, next: { ...from, seq: record.seq } }
    records.push(event)
  }
  const last = records.at(-1)?.seq ?? from.seq - 1
  if (last < part.upTo) {
    const what = `The log of agent "${part.agentId}", from which another was forked at record ${part.upTo}, ends at record ${last}.`
    throw new RuntimeError('LOG_CORRUPT', what)
  }
  const next = from.part + 1 < parts.length ? { next: { part: from.part + 1, seq: 1 } } : {}
  return { part: from.part, records, ...next }
}

/** Returns the parts of other logs that belong to an agent's history, oldest first; none unless it is a fork. */
async function sharedParts(bridge: Bridge, access: AgentAccess, agentId: string): Promise<readonly HistoryPart[]> {
  const created = await createdOf(access, agentId)
  const source = created.forkedFrom
  if (source === undefined) return []
  const parts = await historyParts(bridge.store, source.agentId)
  return parts.map((part) => (part.upTo === Infinity ? { ...part, upTo: source.seq } : part))
}

/** Returns the first record of an agent within reach, including incognito ones, whose logs are in no store. */
async function createdOf(access: AgentAccess, agentId: string): Promise<RecordOf<'agent.created'>> {
  for await (const record of access.records(agentId)) if (record.type === 'agent.created') return record
  throw new RuntimeError('AGENT_NOT_FOUND', `There is no agent "${agentId}" here.`)
}
