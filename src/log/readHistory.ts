import { RuntimeError } from '../protocol/errors.ts'
import type { LogRecord, RecordOf } from '../protocol/records.ts'
import { checkStore } from '../protocol/ports/checkStore.ts'
import type { Store } from '../protocol/ports/store.ts'
import { checkVersion } from '../protocol/upgradeRecord.ts'

/** A stretch of a log that belongs to the history of an agent. */
export interface HistoryPart {
  readonly agentId: string
  readonly created: RecordOf<'agent.created'>
  /** `seq` of the last record that belongs to the part; `Infinity` for the agent's own log. */
  readonly upTo: number
}

export interface History {
  /** The first record of the agent's own log. */
  readonly created: RecordOf<'agent.created'>
  /**
   * Records that a fork shares with its sources, oldest first, up to the point of each fork. Each source begins with `agent.created`. Empty for other
   * agents.
   */
  readonly past: readonly LogRecord[]
  /** The agent's own log. */
  readonly records: readonly LogRecord[]
}

/**
 * Returns the logs of an agent's history: the sources that it was forked from, oldest first, then its own.
 * @throws RuntimeError `INVALID_ID`, `AGENT_NOT_FOUND`; `LOG_CORRUPT` when a source is missing or forks lead back to themselves.
 */
export async function historyParts(store: Store, agentId: string): Promise<HistoryPart[]> {
  checkStore(store)
  const parts: HistoryPart[] = [{ agentId, created: await readCreated(store, agentId), upTo: Infinity }]
  for (let source = parts[0]!.created.forkedFrom; source !== undefined; source = parts[0]!.created.forkedFrom) {
    const fork = parts[0]!.agentId
    if (parts.some((part) => part.agentId === source?.agentId)) {
      const chain = [...parts.map((part) => part.agentId).toReversed(), source.agentId].join('" of "')
      throw new RuntimeError('LOG_CORRUPT', `Agent "${agentId}" is a fork of itself: "${chain}".`)
    }
    const created = await readCreated(store, source.agentId, fork)
    parts.unshift({ agentId: source.agentId, created, upTo: source.seq })
  }
  return parts
}

/**
 * Yields the records of one part, in order.
 * @throws RuntimeError `LOG_CORRUPT` when the log ends before the part does, `LOG_VERSION`
 */
export async function* readPart(
  store: Store,
  { agentId, upTo }: HistoryPart,
): AsyncGenerator<LogRecord, void, undefined> {
  let last = 0
  for await (const record of store.read(agentId)) {
    checkVersion(agentId, record)
    yield record
    last = record.seq
    if (last >= upTo) return
  }
  if (upTo === Infinity) return
  const what = `The log of agent "${agentId}", from which another was forked at record ${upTo}, ends at record ${last}.`
  throw new RuntimeError('LOG_CORRUPT', what)
}

/**
 * Reads an agent's log and, for a fork, the past that it shares with its sources. Needs no lease.
 * @throws RuntimeError `INVALID_ID`, `AGENT_NOT_FOUND`, `LOG_CORRUPT`, `LOG_VERSION`
 */
export async function readHistory(store: Store, agentId: string): Promise<History> {
  const parts = await historyParts(store, agentId)
  const past: LogRecord[] = []
  const records: LogRecord[] = []
  for (const part of parts) {
    const into = part.upTo === Infinity ? records : past
    for await (const record of readPart(store, part)) into.push(record)
  }
  return { created: parts.at(-1)!.created, past, records }
}

/** Returns the first record of a log. `fork` is the agent that was forked from this one. */
async function readCreated(store: Store, agentId: string, fork?: string): Promise<RecordOf<'agent.created'>> {
  for await (const first of store.read(agentId)) {
    if (first.type === 'agent.created') return first
    if (first.type === 'host.created')
      throw new RuntimeError('AGENT_NOT_FOUND', `"${agentId}" is the machine "${first.machine}", and no agent.`)
    throw new RuntimeError('LOG_CORRUPT', `The log of agent "${agentId}" begins with ${first.type}.`)
  }
  if (fork === undefined)
    throw new RuntimeError('AGENT_NOT_FOUND', `There is no log of agent "${agentId}" in this store.`)
  throw new RuntimeError('LOG_CORRUPT', `Agent "${fork}" is a fork of "${agentId}", which has no log in this store.`)
}

/** Returns the first record of an agent's log; `undefined` without a log, or if it does not begin with `agent.created`. Rejects as the store does. */
export async function createdRecord(store: Store, agentId: string): Promise<RecordOf<'agent.created'> | undefined> {
  const record = await firstRecord(store, agentId)
  return record?.type === 'agent.created' ? record : undefined
}

/** Returns the first record of a log, which may belong to an agent or a machine; `undefined` without a log. Passes on the store's errors. */
export async function firstRecord(store: Store, id: string): Promise<LogRecord | undefined> {
  for await (const record of store.read(id, 1, 1)) {
    checkVersion(id, record)
    return record
  }
  return undefined
}
