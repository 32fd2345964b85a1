import { isWaiting, movesCall, stageAfter, type CallStage } from '../log/callStage.ts'
import type { Fold } from '../log/fold.ts'
import { toolCallsOf } from '../protocol/messageText.ts'
import type { LogRecord, PauseReason } from '../protocol/records.ts'

/** What a log says about its agent's machine. */
export interface MachineState {
  /** Path of the active state. */
  readonly state: string
  /** Calls without a result, by `callId`. */
  readonly calls: ReadonlyMap<string, CallStage>
  /** Why it is paused. */
  readonly pause: PauseReason | null
  /** Whether a run is under way. */
  readonly inRun: boolean
}

type State = Omit<MachineState, 'inRun'>

const noCalls: MachineState['calls'] = new Map()

const initialState: MachineState = { state: 'idle', calls: noCalls, pause: null, inRun: false }

const at = (state: string): State => ({ state, calls: noCalls, pause: null })

/** The log has no record of a pause for approvals: as in the machine, a call is held and none is running. */
function inCalls(calls: MachineState['calls']): State {
  if (calls.size === 0) return at('draining.entering')
  const open = [...calls]
  const callIds = open.flatMap(([callId, stage]) => (isWaiting(stage) ? [callId] : []))
  if (callIds.length === 0 || open.some(([, status]) => status === 'running'))
    return { state: 'executing', calls, pause: null }
  return { state: 'paused', calls, pause: { type: 'approvals', callIds } }
}

function setCall(before: State, callId: string, stage: CallStage): State {
  if (!before.calls.has(callId)) return before
  const calls = new Map(before.calls)
  if (stage === 'settled') calls.delete(callId)
  else calls.set(callId, stage)
  return inCalls(calls)
}

/**
 * The machine's state after one more record, as far as a log shows it: streaming is not logged, so a reply under way is `requesting`.
 * Pure.
 */
function stateAfter(before: MachineState, record: LogRecord): MachineState {
  const inRun =
    record.type === 'run.start' || (before.inRun && record.type !== 'run.end' && record.type !== 'agent.created')
  const next = afterRecord(before, record)
  // What a person asks of an agent at rest leaves it at rest, which no record says.
  return { ...(!inRun && next.state.startsWith('draining') ? at('idle') : next), inRun }
}

/** Its steps make new objects. */
export const machineFold: Fold<MachineState> = { name: 'machine', initial: () => initialState, each: stateAfter }

function afterRecord(before: State, record: LogRecord): State {
  if (movesCall(record)) return setCall(before, record.callId, stageAfter(record))
  switch (record.type) {
    case 'run.start':
      return before.calls.size > 0 ? inCalls(before.calls) : before
    case 'turn.start':
      return before.calls.size > 0 ? inCalls(before.calls) : at('replying.requesting')
    case 'turn.prepared':
    case 'tools.changed':
      return at('replying.requesting')
    case 'reply.reset':
      return at(record.retryAt === undefined ? before.state : 'backoff')
    case 'turn.captured':
      return record.attempt > 1 ? at('replying.requesting') : before
    case 'reply.end':
      return inCalls(new Map(toolCallsOf(record.message.content).map(({ callId }) => [callId, 'ready'])))
    case 'compaction.start':
      return at('compacting')
    case 'compaction.end':
    case 'prune.applied':
      return at('draining.leaving')
    case 'revert.applied':
      return at('draining.reverted')
    case 'graft.applied':
      return at('draining.grafted')
    case 'undo.step':
    case 'undo.end':
      return at('draining.undone')
    case 'pin.applied':
      return at('draining.pinned')
    case 'stall.detected':
      return at('draining.checked')
    case 'policy.start':
      return at('draining.consulting')
    case 'policy.end':
      return at('draining.consulted')
    case 'run.end':
      return record.stopReason === 'paused' ? { ...before, state: 'paused', pause: record.reason ?? null } : at('idle')
    case 'run.abandoned':
      return at('idle')
    case 'agent.stopped':
      return at('stopped')
    case 'agent.created':
    case 'turn.end':
    case 'message.added':
    case 'child.spawned':
    case 'child.ended':
    case 'queue.changed':
    case 'use.changed':
    case 'revert.requested':
    case 'prune.requested':
    case 'compaction.requested':
    case 'graft.requested':
    case 'pin.requested':
    case 'policy.requested':
    case 'guard.decided':
    case 'memory.extracted':
    // One that is withheld from who reads the log.
    default:
      return before
  }
}
