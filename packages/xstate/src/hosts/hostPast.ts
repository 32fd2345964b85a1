import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { HostTimer } from '../../../../src/protocol/parts/hosts/hostRecords.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import type { LogRecord, RecordOf } from '../../../../src/protocol/records.ts'
import { checkVersion } from '../../../../src/protocol/upgradeRecord.ts'
import type { InputRecord } from './replica.ts'

/** Number of request ids that are remembered, so that a request sent again is carried out once. */
export const mostRequests = 10_000

/** State that the log of a machine determines. */
export interface HostPast {
  readonly created: RecordOf<'host.created'>
  /** `seq` of the last record. */
  seq: number
  snapshot: RecordOf<'host.snapshot'> | undefined
  done: RecordOf<'host.done'> | undefined
  /** Events recorded after the snapshot. */
  inputs: InputRecord[]
  /** `seq` of the last event whose actions were carried out. */
  handled: number
  /** Fingerprints of the state by the `seq` of the event that led to it. */
  readonly prints: Map<number, string>
  readonly timers: Map<string, HostTimer>
  /** Effects by key, with the latest state recorded for each. */
  readonly effects: Map<string, 'started' | 'ended'>
  readonly requests: Set<string>
}

/** Adds a request, and forgets the oldest if there are too many. */
export function noteRequest(requests: Set<string>, requestId: string): void {
  requests.add(requestId)
  if (requests.size > mostRequests) for (const oldest of requests.values()) return void requests.delete(oldest)
}

/**
 * Reads the log of a machine; `undefined` if there is none.
 * @throws RuntimeError `AGENT_EXISTS` for the log of an agent, `LOG_VERSION`, and the store's errors
 */
export async function readPast(store: Store, hostId: string): Promise<HostPast | undefined> {
  let reading: PastReading | undefined
  for await (const record of store.read(hostId)) {
    checkVersion(hostId, record)
    reading ??= new PastReading(begunBy(hostId, record))
    reading.note(record)
  }
  return reading?.past
}

/** Reads the log of a machine record by record. */
export class PastReading {
  readonly past: HostPast
  /** `seq` of the event that each delayed event became. The record that it was set may come later. */
  readonly #fired = new Map<string, number>()

  constructor(created: RecordOf<'host.created'>) {
    this.past = pastFrom(created)
  }

  /** Adds the next record, starting with the first of the log. */
  note(record: LogRecord): void {
    note(this.past, record, this.#fired)
  }
}

function begunBy(hostId: string, record: LogRecord): RecordOf<'host.created'> {
  if (record.type === 'host.created') return record
  throw new RuntimeError('AGENT_EXISTS', `"${hostId}" is an agent, and no machine.`)
}

function pastFrom(record: RecordOf<'host.created'>): HostPast {
  return {
    created: record,
    seq: record.seq,
    snapshot: undefined,
    done: undefined,
    inputs: [],
    handled: 0,
    prints: new Map(),
    timers: new Map(),
    effects: new Map(),
    requests: new Set(),
  }
}

function note(past: HostPast, record: LogRecord, fired: Map<string, number>): void {
  past.seq = record.seq
  switch (record.type) {
    case 'host.event':
      past.inputs.push(record)
      if (record.requestId !== undefined) noteRequest(past.requests, record.requestId)
      if (record.timer !== undefined) {
        past.timers.delete(record.timer)
        fired.set(record.timer, record.seq)
      }
      return
    case 'host.effect.start':
      return void past.effects.set(record.key, 'started')
    case 'host.effect.end':
      past.inputs.push(record)
      return void past.effects.set(record.key, 'ended')
    case 'host.step':
      past.handled = Math.max(past.handled, record.upto)
      past.prints.set(record.upto, record.print)
      for (const timer of record.set ?? [])
        if ((fired.get(timer.id) ?? 0) <= record.upto) past.timers.set(timer.id, timer)
      for (const id of record.cleared ?? []) past.timers.delete(id)
      return
    case 'host.snapshot':
      past.snapshot = record
      past.handled = Math.max(past.handled, record.upto)
      past.inputs = past.inputs.filter(({ seq }) => seq > record.upto)
      return past.prints.clear()
    case 'host.done':
      past.done = record
      return
    default:
  }
}
