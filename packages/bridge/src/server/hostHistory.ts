import type { Store } from '../../../../src/protocol/ports/store.ts'
import type { HostLine, HostView } from '../../../wire/src/hostView.ts'
import type { LogRecord, RecordOf } from '../../../../src/protocol/records.ts'
import { eventInWords } from '../../../charts/src/hostWords.ts'
import { oneLine } from '../../../charts/src/plainText.ts'

/** Maximum number of a machine's records in one answer. */
const mostRecords = 200

/** A machine with its newest records. */
export interface HostHistory {
  /** The machine's current state. `seq` is the `seq` of the last record that was read. */
  readonly host: HostView
  readonly records: readonly HostLine[]
}

/** Reads the newest records of a machine after one, as texts. Records that only mark progress are left out. */
export async function historyOf(store: Store, host: HostView, after: number): Promise<HostHistory> {
  const records: HostLine[] = []
  let last = after
  for await (const record of store.read(host.id, Math.max(after, host.seq - mostRecords) + 1)) {
    last = record.seq
    const words = wordsOf(record)
    if (words === undefined) continue
    records.push({ seq: record.seq, time: record.time, type: record.type, line: oneLine(words) })
  }
  return { host: { ...host, seq: last }, records: records.slice(-mostRecords) }
}

function wordsOf(record: LogRecord): string | undefined {
  switch (record.type) {
    case 'host.created':
      return `begins as ${record.machine}${record.version === undefined ? '' : `, version ${record.version}`}`
    case 'host.event':
      return eventLine(record)
    case 'host.effect.start':
      return `${record.actor} begins`
    case 'host.effect.end':
      return record.error === undefined ? `${record.actor} is done` : `${record.actor} failed: ${record.error.message}`
    case 'host.done':
      return record.error === undefined ? 'done' : `failed: ${record.error.message}`
    default:
      return undefined
  }
}

/** Describes an event in one line. The sender is left out for XState's own events of an actor, which name it. */
function eventLine({ event: { type }, from, to }: RecordOf<'host.event'>): string {
  const sender = from === undefined || type.startsWith('xstate.') ? '' : ` from ${from}`
  return `${eventInWords(type)}${sender}${to === undefined ? '' : ` to ${to}`}`
}
