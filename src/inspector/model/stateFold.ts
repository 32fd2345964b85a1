import { toolCallsOf } from '../../protocol/messages.ts'
import type { LogRecord, PauseReason } from '../../protocol/records.ts'

/** What of an agent's machine its log tells. */
export interface FoldedState {
  /** Path of the active state. */
  readonly state: string
  /** Calls without a result; of them those that wait for a person. */
  readonly open: ReadonlySet<string>
  readonly held: ReadonlySet<string>
  /** Why it is paused. */
  readonly pause: PauseReason | null
}

const none: ReadonlySet<string> = new Set()

export const initialState: FoldedState = { state: 'idle', open: none, held: none, pause: null }

const at = (state: string): FoldedState => ({ state, open: none, held: none, pause: null })

const without = (set: ReadonlySet<string>, value: string): ReadonlySet<string> => {
  const rest = new Set(set)
  rest.delete(value)
  return rest
}

/** Only calls that wait for a person are left: the machine pauses, and the log has no record of it. */
function inCalls(open: ReadonlySet<string>, held: ReadonlySet<string>): FoldedState {
  if (open.size === 0) return at('draining.entering')
  if (open.size > held.size) return { state: 'executing', open, held, pause: null }
  return { state: 'paused', open, held, pause: { type: 'approvals', callIds: [...held] } }
}

/**
 * The machine's state after one more record, as far as a log tells: streaming is not in it, so a reply under way is `requesting`.
 * Pure.
 */
export function foldState(before: FoldedState, record: LogRecord): FoldedState {
  const { open, held } = before
  switch (record.type) {
    case 'turn.start':
      return before.open.size > 0 ? inCalls(open, held) : at('replying.requesting')
    case 'reply.reset':
      return at(record.retryAt === undefined ? before.state : 'backoff')
    case 'turn.captured':
      return record.attempt > 1 ? at('replying.requesting') : before
    case 'reply.end':
      return inCalls(new Set(toolCallsOf(record.message.content).map(({ callId }) => callId)), none)
    case 'approval.requested':
      return inCalls(open, new Set([...held, record.callId]))
    case 'approval.decided':
    case 'tool.start':
      return open.has(record.callId) ? inCalls(open, without(held, record.callId)) : before
    case 'tool.end':
      return open.has(record.callId) ? inCalls(without(open, record.callId), without(held, record.callId)) : before
    case 'compaction.start':
      return at('compacting')
    case 'compaction.end':
      return at('draining.leaving')
    case 'revert.applied':
      return at('draining.reverted')
    case 'prune.applied':
      return at('draining.leaving')
    case 'run.end':
      return record.stopReason === 'paused' ? { state: 'paused', open, held, pause: record.reason ?? null } : at('idle')
    case 'run.abandoned':
      return at('idle')
    case 'agent.stopped':
      return at('stopped')
    case 'agent.created':
    case 'run.start':
    case 'turn.end':
    case 'message.added':
    case 'child.spawned':
    case 'child.ended':
    case 'queue.changed':
    case 'revert.requested':
    case 'prune.requested':
      return before
  }
}
