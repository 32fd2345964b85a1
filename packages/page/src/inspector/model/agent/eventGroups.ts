import { brakeWords } from '../../../../../words/src/brakes/brakeWords.ts'
import type { AgentEvent } from '../../../../../../src/protocol/events.ts'
import { linesAbout } from '../../../../../words/src/parts/partLines.ts'
import type { PartRecordType } from '../../../../../../src/protocol/parts/partRecords.ts'

/** Groups of events that are shown or hidden together. */
export const eventGroups = ['run', 'message', 'tool', 'brake', 'approval', 'state', 'request', 'error'] as const
export type EventGroup = (typeof eventGroups)[number]

const groups: Readonly<Record<Exclude<AgentEvent['type'], PartRecordType>, EventGroup>> = {
  'agent.created': 'run',
  'agent.stopped': 'run',
  'run.start': 'run',
  'run.end': 'run',
  'run.abandoned': 'run',
  'record.withheld': 'run',
  'turn.start': 'run',
  'turn.end': 'run',
  'turn.prepared': 'request',
  'tools.changed': 'request',
  'use.changed': 'request',
  'turn.captured': 'request',
  'turn.request': 'request',
  'message.added': 'message',
  'reply.start': 'message',
  'reply.end': 'message',
  'reply.reset': 'error',
  'reply.delta': 'message',
  'thinking.delta': 'message',
  'toolCall.delta': 'tool',
  'tool.start': 'tool',
  'tool.end': 'tool',
  'tool.progress': 'tool',
  'child.spawned': 'tool',
  'child.ended': 'tool',
  'approval.requested': 'approval',
  'approval.decided': 'approval',
  'question.asked': 'approval',
  'question.answered': 'approval',
  'call.requested': 'approval',
  'queue.changed': 'message',
  'compaction.requested': 'brake',
  'compaction.start': 'brake',
  'compaction.end': 'brake',
  'revert.requested': 'brake',
  'revert.applied': 'brake',
  'undo.step': 'brake',
  'undo.end': 'brake',
  'prune.requested': 'brake',
  'prune.applied': 'brake',
  ...brakeWords.group,
  'pin.requested': 'brake',
  'pin.applied': 'brake',
  'guard.decided': 'approval',
  'stall.detected': 'brake',
  'policy.requested': 'brake',
  'policy.start': 'brake',
  'policy.end': 'brake',
  'tag.expired': 'brake',
  'model.waiting': 'state',
  'model.waited': 'state',
  'model.warning': 'error',
  'source.status': 'request',
  'state.changed': 'state',
  error: 'error',
  'events.dropped': 'error',
}

/** Returns the group of an event's type; `run` for a type from a newer server. */
const groupIn = (event: AgentEvent): EventGroup =>
  linesAbout(event)?.group ?? (groups as Partial<Record<string, EventGroup>>)[event.type] ?? 'run'

/**
 * Returns true if an event is a failure (of an attempt, a call, a run or a sub-agent, or an error). A call that the
 * runtime answered in place of its tool has not failed.
 */
export function isFailure(event: AgentEvent): boolean {
  switch (event.type) {
    case 'run.end':
      return event.stopReason === 'error' || event.reason?.type === 'store'
    case 'tool.end':
      return event.message.isError && event.message.synthetic === undefined
    case 'child.ended':
      return event.error !== undefined
    default:
      return groupIn(event) === 'error'
  }
}

/** Returns the group whose mark an event has. */
export const groupOf = (event: AgentEvent): EventGroup => (isFailure(event) ? 'error' : groupIn(event))

/** Returns the groups in which an event is found: the one of its type, and for a failure also `error`. */
export function groupsOf(event: AgentEvent): readonly EventGroup[] {
  const own = groupIn(event)
  return own !== 'error' && isFailure(event) ? [own, 'error'] : [own]
}
