import type { AgentEvent, EventOf } from '../protocol/events.ts'
import type { LogRecord, RecordOf } from '../protocol/records.ts'

/**
 * Stage of a call according to the log. A `ready` call waits for its turn. A call waits for an answer from outside while `held` (for an
 * approval), `asked` (for the answer to a question of its tool) or `requested` (for a client's result), and for a time while `sleeping`.
 */
export type CallStage = 'ready' | 'held' | 'asked' | 'requested' | 'sleeping' | 'running' | 'settled'

const stages = {
  'approval.requested': 'held',
  'approval.decided': 'ready',
  'question.asked': 'asked',
  'question.answered': 'running',
  'call.requested': 'requested',
  'timer.set': 'sleeping',
  'timer.fired': 'running',
  'tool.start': 'running',
  'tool.end': 'settled',
} as const satisfies { readonly [T in LogRecord['type']]?: CallStage }

export type CallRecord = RecordOf<keyof typeof stages>

export type CallEvent = EventOf<keyof typeof stages>

export function movesCall(record: LogRecord): record is CallRecord
export function movesCall(event: AgentEvent): event is CallEvent
export function movesCall(record: LogRecord | AgentEvent): boolean {
  // A call in the background has its receipt.
  const isOfReceipt = record.type !== 'tool.start' && 'background' in record && record.background !== undefined
  return Object.hasOwn(stages, record.type) && !isOfReceipt
}

export function stageAfter(record: CallRecord | CallEvent): CallStage {
  // The process that asked is gone: the call runs again.
  if ('again' in record && record.again) return 'ready'
  if ('parentCall' in record && record.parentCall !== undefined)
    return record.type === 'approval.requested' ? 'asked' : 'running'
  return stages[record.type]
}

/** Returns the id of the call whose stage a record changes. For the approval of an inner call, that is the call that makes it. */
export const movedCall = (record: CallRecord | CallEvent): string =>
  ('parentCall' in record ? record.parentCall : undefined) ?? record.callId

/** Returns true if the call cannot continue before it is answered from outside, or a time has come. */
export const isWaiting = (stage: CallStage | undefined): boolean =>
  stage === 'held' || stage === 'asked' || stage === 'requested' || stage === 'sleeping'

/** Status of a call in the form used by sessions and the page. */
export type CallStatus = 'pending' | 'held' | 'running' | 'ended'

export const statusOf: { readonly [S in CallStage]: CallStatus } = {
  ready: 'pending',
  held: 'held',
  asked: 'held',
  requested: 'held',
  sleeping: 'held',
  running: 'running',
  settled: 'ended',
}
