import type { PartialReply } from '../../actors/agentPorts.ts'
import type { GroupMember } from '../../conversation/brakes/lessons/lessons.ts'
import type { LogRecord, RecordOf } from '../../protocol/records.ts'
import type { RunDeps } from '../children/runDeps.ts'
import type { Notices } from '../events/notices.ts'
import type { Runs } from '../events/runs.ts'

/** Receivers of an agent's records, beside its observers. */
export interface Told {
  readonly runs: Pick<Runs, 'end' | 'dropAll'>
  readonly given: RunDeps | undefined
  readonly notices: Notices
  readonly group: GroupMember | undefined
  partial: PartialReply | null
  report(): void
  left(childId: string): void
}

const learn = ({ group }: Told, record: LogRecord): void => group?.note(record)

const listeners: { readonly [T in LogRecord['type']]?: (host: Told, record: RecordOf<T>) => void } = {
  'run.start'({ given, notices }, record) {
    given?.note(record)
    notices.record(record)
  },
  'run.end'(host, record) {
    host.given?.note(record)
    host.runs.end(record)
    host.report()
  },
  'reply.end': replied,
  'reply.reset': replied,
  'tool.start': learn,
  'tool.end': learn,
  'revert.applied': learn,
  'queue.changed'({ runs }, { why, removed }) {
    if (why === 'dropped') runs.dropAll(removed)
  },
  'child.ended': (host, { childId }) => host.left(childId),
}

function replied(host: Told, record: LogRecord): void {
  host.partial = null
  host.notices.record(record)
}

/** Tells a record that was announced to those whom its type concerns. */
export const tellListeners = (host: Told, record: LogRecord): void =>
  (listeners[record.type] as ((host: Told, record: LogRecord) => void) | undefined)?.(host, record)
