import { isWaiting, movedCall, movesCall, stageAfter, type CallStage } from '../../../src/log/callStage.ts'
import type { AgentEvent } from '../../../src/protocol/events.ts'

/** Duration of a call or run in milliseconds. `waitedMs`, the time that people took to decide, is counted apart. */
export interface Took {
  readonly ms: number
  readonly waitedMs: number
}

interface Open {
  ms: number
  waitedMs: number
  /** True while the call waits for a person. */
  waits: boolean
}

/**
 * Measures calls and runs: a fold of the events of one agent. The time of a run counts as waiting while calls wait
 * for people and none is at work. A clock that is set back subtracts nothing.
 */
export class WorkTimes {
  readonly #calls = new Map<string, Open>()
  #run: Open | undefined
  #last: number | undefined

  /** Takes the next event. Returns the time of a call or run at its end, if its beginning was seen. */
  take(event: AgentEvent): Took | undefined {
    this.#pass(event.time)
    switch (event.type) {
      case 'run.start':
        this.#calls.clear()
        this.#run = { ms: 0, waitedMs: 0, waits: false }
        return undefined
      case 'tool.end': {
        const call = this.#calls.get(event.callId)
        this.#calls.delete(event.callId)
        return call && tookOf(call)
      }
      case 'run.end': {
        const run = this.#run
        this.#run = undefined
        this.#calls.clear()
        return run && tookOf(run)
      }
      default:
        if (movesCall(event)) this.#set(movedCall(event), stageAfter(event))
        return undefined
    }
  }

  /** Returns the time of the current run until `time`, in epoch milliseconds. Later events are counted from then on. */
  runUntil(time: number): Took | undefined {
    this.#pass(time)
    return this.#run && tookOf(this.#run)
  }

  #set(callId: string, stage: CallStage): void {
    // One that a client carries out is no work of the agent, and no person's.
    if (stage === 'requested') return
    const waits = isWaiting(stage)
    const call = this.#calls.get(callId)
    if (call === undefined) this.#calls.set(callId, { ms: 0, waitedMs: 0, waits })
    else call.waits = waits
  }

  /** Counts the time that has passed until `time`. */
  #pass(time: number): void {
    const ms = Math.max(0, time - (this.#last ?? time))
    this.#last = time
    if (ms === 0) return
    const calls = [...this.#calls.values()]
    for (const call of calls) add(call, ms, call.waits)
    if (this.#run !== undefined) add(this.#run, ms, calls.length > 0 && calls.every(({ waits }) => waits))
  }
}

function add(open: Open, ms: number, waits: boolean): void {
  if (waits) open.waitedMs += ms
  else open.ms += ms
}

const tookOf = ({ ms, waitedMs }: Open): Took => ({ ms, waitedMs })
