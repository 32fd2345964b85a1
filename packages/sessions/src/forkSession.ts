import { nanoid } from 'nanoid'
import { z } from 'zod'
import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import { lazily } from '../../../src/protocol/lazily.ts'
import { rebuildConversation } from '../../../src/conversation/tree/rebuildConversation.ts'
import { type Clock, systemClock } from '../../../src/protocol/ports/clock.ts'
import { checkedBy, RuntimeError, quoted } from '../../../src/protocol/errors.ts'
import { formatNodeId, nodeIdSchema, parseNodeId, type NodeId, checkAgentId } from '../../../src/protocol/ids.ts'
import { recordVersion, type LogRecord, type RecordOf } from '../../../src/protocol/records.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { historyParts, readPart, type HistoryPart } from '../../../src/log/readHistory.ts'
import { outlineOf } from '../../../src/log/outline.ts'
import { StepSearch } from './stepSearch.ts'

export interface ForkOptions {
  /** Id of the new agent. Default: the definition's name and a random part. */
  readonly id?: string
  /** The clock that dates the fork. Default: the system's. */
  readonly clock?: Clock
}

const forkOptionsSchema = lazily(() =>
  onlyFields({
    id: z.string(),
    clock: z.custom((value) => typeof (value as Clock | null)?.now === 'function', 'give { now, after }'),
  }).partial(),
)

/** The longest name that leaves room for the random part of an id. */
const mostNameChars = 100

/**
 * Creates an agent that shares another's past up to the moment when the step of node `at` was the newest: a message just sent, a reply with all
 * its results, or a summary just written. The node may have been abandoned since. The new log holds one record that refers to the source's log,
 * so that log must stay; queues and waiting requests stay with the source. Continue with `runtime.resume`: in the middle of a run the model is
 * asked again. The source is only read, and may be running.
 *
 * @throws RuntimeError `INVALID_ID`, `INVALID_OPTION`, `AGENT_NOT_FOUND`, `NODE_NOT_FOUND` (also for a step whose calls have no results yet),
 * `AGENT_EXISTS`, `LOG_CORRUPT`, `LOG_VERSION`, and errors of the store.
 *
 * @example
 * ```ts
 * const { agentId } = await forkSession(store, agent.id, 'n1')
 * const fork = await runtime.resume(agentId, coder)
 * console.log(fork.id)
 * ```
 */
export async function forkSession(
  store: Store,
  agentId: string,
  at: NodeId | string,
  options: ForkOptions = {},
): Promise<{ agentId: string }> {
  return await writeFork(store, await findFork(store, agentId, at, options))
}

/** Finds the first record for a fork without writing anything. Rejects as `forkSession` does. */
export async function findFork(
  store: Store,
  agentId: string,
  at: NodeId | string,
  options: ForkOptions = {},
): Promise<RecordOf<'agent.created'>> {
  checkedBy(forkOptionsSchema(), options, 'forkSession')
  const { id, clock = systemClock } = options
  if (id !== undefined) checkAgentId(id)
  const parts = await historyParts(store, agentId)
  const { definition, model, machine, metadata } = parts.at(-1)!.created
  const { forkedFrom, title } = await findMoment(store, parts, at)
  const forkId = id ?? `${definition.slice(0, mostNameChars)}-${nanoid(12)}`
  checkAgentId(forkId)
  return {
    v: recordVersion,
    seq: 1,
    time: clock.now(),
    type: 'agent.created',
    agentId: forkId,
    path: [],
    definition,
    model,
    machine,
    forkedFrom,
    ...(title === undefined ? {} : { title }),
    ...(metadata === undefined ? {} : { metadata }),
  }
}

/** Types of the records after which another node is the newest, or the head. */
const movesHead: ReadonlySet<LogRecord['type']> = new Set([
  'message.added',
  'reply.end',
  'revert.applied',
  'graft.applied',
] as const)

interface Moment {
  readonly forkedFrom: NonNullable<RecordOf<'agent.created'>['forkedFrom']>
  /** Title of the source agent. */
  readonly title: string | undefined
}

async function findMoment(store: Store, parts: readonly HistoryPart[], at: NodeId | string): Promise<Moment> {
  const nodeId = typeof at === 'string' ? parseNodeId(at) : nodeIdSchema().safeParse(at).data
  // Without an id it looks for none, but finds the highest one.
  const search = new StepSearch(nodeId ?? 0)
  const shared: LogRecord[] = []
  for (const part of parts) {
    let newest: NodeId | undefined
    let length = 0
    for await (const record of readPart(store, part)) {
      if (newest !== undefined && movesHead.has(record.type)) break
      shared.push(record)
      const found = newest === undefined ? search.next(record) : undefined
      newest ??= found
      // What was changed of the state while the node was the newest belongs to it.
      if (found !== undefined || (newest !== undefined && record.type === 'state.patched')) length = shared.length
    }
    if (newest === undefined) continue
    shared.length = length
    // Otherwise only the fork would discover a past that cannot be rebuilt.
    rebuildConversation(shared)
    const { title } = outlineOf(shared)
    return { forkedFrom: { agentId: part.agentId, seq: shared.at(-1)!.seq, at: newest }, title }
  }
  throw notFound(parts.at(-1)!.agentId, nodeId === undefined ? quoted(at) : formatNodeId(nodeId), search)
}

function notFound(agentId: string, asked: string, { lastNodeId, missingResults }: StepSearch): RuntimeError {
  const why =
    missingResults > 0
      ? `The step of ${asked} is not whole yet: ${missingResults} of its calls have no result.`
      : `Agent "${agentId}" has no node ${asked}; its newest is ${lastNodeId === 0 ? 'none' : formatNodeId(lastNodeId)}.`
  return new RuntimeError('NODE_NOT_FOUND', why)
}

/** Begins the log of a fork. Rejects with `AGENT_EXISTS`, and as the store does. */
export async function writeFork(store: Store, record: RecordOf<'agent.created'>): Promise<{ agentId: string }> {
  const { agentId } = record
  const exists = new RuntimeError('AGENT_EXISTS', `Agent "${agentId}" has a log in this store.`)
  // Before taking the lease, which a running agent would refuse with STORE_LOCKED.
  for await (const _ of store.read(agentId)) throw exists
  const lease = await store.open(agentId)
  try {
    if (lease.lastSeq > 0) throw exists
    await store.append(agentId, [record])
    return { agentId }
  } finally {
    await lease.release()
  }
}
