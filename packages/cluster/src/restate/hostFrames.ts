import { nanoid } from 'nanoid'
import { firstRecord } from '../../../../src/log/readHistory.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { HostView } from '../../../wire/src/hostView.ts'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { pause } from '../../../../src/protocol/ports/pause.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import type { RecordOf } from '../../../../src/protocol/records.ts'
import { historyOf } from '../../../bridge/src/server/hostHistory.ts'
import type { ClientFrame } from '../../../wire/src/frames.ts'
import type { Ingress } from './ingress.ts'

/** Parts that are used to answer questions about machines. */
interface HostParts {
  readonly ingress: Ingress
  readonly store: Store
  readonly clock: Clock
  readonly pollMs: number
}

/** Longest wait for the next record of a machine, in milliseconds. */
const mostWaitMs = 20_000

/** The first record of a machine's log. @throws RuntimeError `MACHINE_NOT_FOUND`, and as the store does */
export async function createdHost(store: Store, hostId: string): Promise<RecordOf<'host.created'>> {
  const created = await firstRecord(store, hostId)
  if (created?.type === 'host.created') return created
  throw new RuntimeError('MACHINE_NOT_FOUND', `There is no machine "${hostId}" in this store.`)
}

/**
 * Resolves with the state of a machine, as a worker reads it from the log. With `after`, waits until the log has a later record, a
 * time limit passes, or `signal` is aborted. Rejects with `MACHINE_NOT_FOUND`, as the store does, and as `call` of the ingress does.
 */
export async function hostIn(
  parts: HostParts,
  { hostId, after, records }: Extract<ClientFrame, { type: 'host.read' }>,
  signal: AbortSignal,
): Promise<object> {
  await createdHost(parts.store, hostId)
  if (after !== undefined) await untilNews(parts, hostId, after, signal)
  const host = await parts.ingress.call<HostView>({ agentId: hostId, verb: 'snapshot', body: {}, requestId: nanoid() })
  return records === true ? await historyOf(parts.store, host, after ?? 0) : { host }
}

/** Resolves once a log of this id exists, or when `signal` is aborted. Rejects as the store does. */
export async function untilThere(
  { store, clock, pollMs }: Omit<HostParts, 'ingress'>,
  id: string,
  signal: AbortSignal,
): Promise<undefined> {
  while (!signal.aborted && (await firstRecord(store, id)) === undefined) await pause(pollMs, clock, signal)
}

async function untilNews(
  { store, clock, pollMs }: HostParts,
  id: string,
  after: number,
  signal: AbortSignal,
): Promise<void> {
  const until = clock.now() + mostWaitMs
  while (clock.now() < until && !signal.aborted) {
    for await (const { seq, type } of store.read(id, Math.max(1, after), 2))
      if (seq > after || type === 'host.done') return
    await pause(pollMs, clock, signal)
  }
}
