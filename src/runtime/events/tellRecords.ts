import type { PartialReply } from '../../actors/agentPorts.ts'
import type { GroupMember } from '../../conversation/brakes/lessons/lessons.ts'
import type { LogRecord, RecordOf } from '../../protocol/records.ts'
import type { Announcer } from './announcer.ts'
import type { Runs } from './runs.ts'

/** Receivers of an agent's records. */
interface Told {
  readonly announcer: Announcer
  readonly runs: Runs
  /** Dependencies of its runs. */
  readonly given: { note(record: LogRecord): void } | undefined
  readonly ports: { readonly group: GroupMember | undefined; partial: PartialReply | null }
  /** Called when its run has ended: reports to the caller that waits for it. */
  report(): void
  readonly family: { readonly known: { left(childId: string): void; placeFreed(): void } | undefined }
}

const learn = ({ ports }: Told, record: LogRecord): void => ports.group?.note(record)

const listeners: { readonly [T in LogRecord['type']]?: (host: Told, record: RecordOf<T>) => void } = {
  'run.start'({ given, announcer }, record) {
    given?.note(record)
    announcer.notices.record(record)
  },
  'run.end'(host, record) {
    host.given?.note(record)
    host.runs.end(record)
    host.report()
  },
  'reply.end': replied,
  'reply.reset': replied,
  'tool.start': learn,
  'tool.end'(host, record) {
    learn(host, record)
    host.family.known?.placeFreed()
  },
  'revert.applied': learn,
  'queue.changed'({ runs }, { why, removed }) {
    if (why === 'dropped') runs.dropAll(removed)
  },
  'child.ended': ({ family }, { childId }) => family.known?.left(childId),
}

function replied({ ports, announcer }: Told, record: LogRecord): void {
  ports.partial = null
  announcer.notices.record(record)
}

/** Announces the records of one step, each to observers first and then to those whom its type concerns. */
export function tellRecords(host: Told, records: readonly LogRecord[]): void {
  for (const record of records) {
    // Who observes its first record may ask for the run.
    if (record.type === 'run.start') host.runs.begin(record)
    host.announcer.record(record)
    ;(listeners[record.type] as ((host: Told, record: LogRecord) => void) | undefined)?.(host, record)
  }
}
