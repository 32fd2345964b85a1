import { isDeepStrictEqual } from 'node:util'
import { agentMachineId } from '../machines/agentSetup.ts'
import { RuntimeError } from '../protocol/errors.ts'
import { isNestedDeeper, mostLevels } from '../protocol/checks/nesting.ts'
import { type HistoryMessage, readHistoryMessages, wrongHistory } from '../protocol/history.ts'
import type { LogRecord } from '../protocol/records.ts'
import type { Store, StoreLease } from '../protocol/ports/store.ts'
import { checkHistory, historyRecords } from './importHistory.ts'
import { createdRecord, readHistory } from '../log/readHistory.ts'
import type { HostOptions, HostShared } from './agents/hostOptions.ts'

/** A checked history that has no agent yet. */
export type CheckedHistory = ReturnType<typeof readHistoryMessages>

/**
 * Returns the messages that an agent begins with; `undefined` without any.
 * @throws RuntimeError `INVALID_OPTION`, naming the message by its index
 */
export function checkedHistory(history: readonly HistoryMessage[] | undefined): CheckedHistory | undefined {
  if (history === undefined) return undefined
  if (isNestedDeeper(history, mostLevels)) throw wrongHistory(`it is nested deeper than ${mostLevels} levels`)
  const messages = readHistoryMessages(history)
  checkHistory(messages)
  return messages.length === 0 ? undefined : messages
}

/**
 * Writes the log of a new agent that begins with messages from another system, and returns the options to continue
 * from it. Releases the lease on failure. If an earlier process died in the middle, the missing records are added.
 * @throws RuntimeError `AGENT_EXISTS` if the log begins differently, and errors of the store
 */
export async function withHistory(
  options: HostOptions,
  messages: CheckedHistory,
  shared: Pick<HostShared, 'store' | 'clock' | 'sources'>,
): Promise<HostOptions> {
  const { agentId, lease, incognito: store = shared.store } = options
  try {
    const records = recordsOf(options, messages, shared)
    for await (const stored of store.read(agentId)) {
      const own = records[stored.seq - 1]
      if (own !== undefined && isDeepStrictEqual(stored, { ...own, time: stored.time })) continue
      throw new RuntimeError('AGENT_EXISTS', `Agent "${agentId}" has a log that does not begin with this history.`)
    }
    await store.append(agentId, records.slice(lease.lastSeq))
    return { ...options, history: await readHistory(store, agentId) }
  } catch (thrown) {
    await lease.release()
    throw thrown
  }
}

function recordsOf(
  { agentId, definition, metadata }: HostOptions,
  messages: CheckedHistory,
  { clock, sources }: Pick<HostShared, 'clock' | 'sources'>,
): readonly LogRecord[] {
  const created = {
    agentId,
    path: [],
    definition: definition.name,
    model: definition.model.id,
    machine: agentMachineId,
    ...(metadata === undefined ? {} : { metadata }),
  }
  const records = historyRecords(created, messages, clock.now())
  return sources.redactor?.value(records) ?? records
}

/** Returns the number of history messages that a log lacks because the process died while they were written. */
export function missingHistory(records: readonly LogRecord[]): number {
  const [first] = records
  const imported = first?.type === 'agent.created' ? (first.imported ?? 0) : 0
  return Math.max(0, imported + 1 - records.length)
}

/** Returns true if a log lacks part of its agent's history. */
export async function isCutHistory(
  { agentId, lastSeq }: StoreLease,
  store: Store,
  history: CheckedHistory | undefined,
): Promise<boolean> {
  if (history === undefined) return false
  const created = await createdRecord(store, agentId)
  return (created?.imported ?? 0) >= lastSeq
}
