import { askedBrakes, askedKinds } from '../../../src/protocol/brakes/brakeTable.ts'
import { isWaiting, movedCall, movesCall, stageAfter, type CallStage } from '../../../src/log/callStage.ts'
import type { Fold } from '../../../src/log/fold.ts'
import type { AssistantMessage } from '../../../src/protocol/messages.ts'
import { toolCallsOf } from '../../../src/protocol/text/messageText.ts'
import type { LogRecord, PauseReason } from '../../../src/protocol/records.ts'

/** Calls without a result, by `callId`. Changed in place, because one reply may make thousands, with records for each. */
class OpenCalls extends Map<string, CallStage> {
  waiting = 0
  running = 0
  /** Times until which calls sleep or slept, by `callId`. */
  readonly until = new Map<string, number>()

  override set(callId: string, stage: CallStage): this {
    this.#count(this.get(callId), -1)
    this.#count(stage, 1)
    return super.set(callId, stage)
  }

  override delete(callId: string): boolean {
    this.#count(this.get(callId), -1)
    return super.delete(callId)
  }

  #count(stage: CallStage | undefined, by: number): void {
    if (isWaiting(stage)) this.waiting += by
    else if (stage === 'running') this.running += by
  }
}

/** State of an agent's machine according to its log. */
export interface MachineState {
  /** Path of the active state. */
  readonly state: string
  readonly calls: OpenCalls
  /** Reason for its pause. `held`: the reasons are those of the held calls. */
  readonly pause: PauseReason | 'held' | null
  /** True while a run is under way. */
  readonly inRun: boolean
}

type State = Omit<MachineState, 'inRun'>

/** Shared empty map. It is never changed, because only existing calls are. */
const noCalls = new OpenCalls()

const initialState: MachineState = { state: 'idle', calls: noCalls, pause: null, inRun: false }

const at = (state: string): State => ({ state, calls: noCalls, pause: null })

/** Returns the reason for an agent's pause according to the log; `null` if it is not paused. */
export function pauseOf({ pause, calls }: MachineState): PauseReason | null {
  if (pause !== 'held') return pause
  const waiting = [...calls].filter(([, stage]) => isWaiting(stage))
  const asked = waiting.filter(([, stage]) => stage !== 'sleeping')
  if (asked.length > 0 || waiting.length === 0) return { type: 'approvals', callIds: asked.map(([callId]) => callId) }
  return { type: 'timer', until: Math.min(...waiting.map(([callId]) => calls.until.get(callId) ?? 0)) }
}

/** Returns the state while calls are open. The log has no record of a pause in calls: as in the machine, one is held and none is running. */
function inCalls(calls: OpenCalls): State {
  if (calls.size === 0) return at('draining.entering')
  if (calls.waiting === 0 || calls.running > 0) return { state: 'executing', calls, pause: null }
  return { state: 'paused', calls, pause: 'held' }
}

function setCall(before: State, callId: string, stage: CallStage): State {
  if (!before.calls.has(callId)) return before
  if (stage === 'settled') before.calls.delete(callId)
  else before.calls.set(callId, stage)
  return inCalls(before.calls)
}

function opened(message: AssistantMessage): OpenCalls {
  const calls = new OpenCalls()
  for (const { callId } of toolCallsOf(message.content)) calls.set(callId, 'ready')
  return calls
}

/**
 * Returns the machine's state after one more record, as far as a log shows it. Streaming is not logged, so a reply under way is `requesting`.
 * The calls of `before` are changed in place, so `before` must not be used again.
 */
function stateAfter(before: MachineState, record: LogRecord): MachineState {
  const inRun =
    record.type === 'run.start' || (before.inRun && record.type !== 'run.end' && record.type !== 'agent.created')
  const next = afterRecord(before, record)
  // What a person asks of an agent at rest leaves it at rest, which no record says.
  return { ...(!inRun && next.state.startsWith('draining') ? at('idle') : next), inRun }
}

/** Fold of the machine's state. Its calls are changed in place. */
export const machineFold: Fold<MachineState> = { name: 'machine', initial: () => initialState, each: stateAfter }

/** States after a brake has been drained, by the type of its outcome record. A fold, drained last, is also recorded as a prune. */
const afterDrain: { readonly [T in LogRecord['type']]?: string } = Object.fromEntries(
  askedKinds.map((kind) => [`${kind}.applied`, `draining.${askedBrakes[kind].drained}`]),
)

function afterRecord(before: State, record: LogRecord): State {
  if (record.type === 'timer.set') before.calls.until.set(record.callId, record.due)
  if (movesCall(record)) return setCall(before, movedCall(record), stageAfter(record))
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
      return inCalls(opened(record.message))
    case 'compaction.start':
      return at('compacting')
    case 'compaction.end':
    case 'prune.applied':
      return at('draining.leaving')
    case 'undo.step':
    case 'undo.end':
      return at('draining.undone')
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
    case 'guard.decided':
    // Those of parts.
    // One that is withheld from who reads the log.
    default: {
      const state = afterDrain[record.type]
      return state === undefined ? before : at(state)
    }
  }
}
