import { messageOf } from '../../protocol/errors.ts'
import type { AgentPorts } from '../agentPorts.ts'
import { pause } from '../../protocol/ports/pause.ts'
import { codeOf, failed, type End } from './innerEnds.ts'

/** A running call that waits for longer than this, in milliseconds, is ended, and runs again at the time: to run a script again costs little. */
const leastSleepMs = 10_000

/** Longest wait at a time, in milliseconds: a clock may be set, and timers of some hosts take no longer ones. */
const longestWaitMs = 86_400_000

/** Returns the time of a sleep as its record has it, or the end of one whose time is no good. */
export function dueInput(
  due: (now: number) => number,
  now: number,
): { readonly input: unknown } | { readonly end: End } {
  try {
    return { input: { until: due(now) } }
  } catch (thrown) {
    return { end: failed(messageOf(thrown), codeOf(thrown) ?? 'INVALID_INPUT') }
  }
}

/** Returns the time on record of a sleep; for a record that has none the time is over. */
function untilIn(input: unknown): number {
  const until = typeof input === 'object' && input !== null && 'until' in input ? input.until : undefined
  return typeof until === 'number' ? until : 0
}

/** The sleeps of what one running call runs. */
export class InnerSleeps {
  readonly #ports: AgentPorts
  readonly #key: string
  /** Times of the calls that sleep, by their places. */
  readonly #sleeping = new Map<number, number>()
  /** Number of calls that are under way, with those that sleep. */
  #underWay = 0
  /** True while nothing moves but by a result. */
  #isIdle = false
  readonly #over = new AbortController()

  /** `key`: of the running call. */
  constructor(ports: AgentPorts, key: string) {
    this.#ports = ports
    this.#key = key
  }

  /** Counts a call while it is under way. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#underWay += 1
    try {
      return await work()
    } finally {
      this.#underWay -= 1
    }
  }

  idle(isIdle: boolean): void {
    this.#isIdle = isIdle
    this.#rest()
  }

  /** Nothing waits for the sleeps any more. */
  over(): void {
    this.#over.abort()
  }

  /** Resolves once the clock has reached the time on record, or with `undefined` when nothing waits for it. Rejects with the reason of `signal`. */
  async wait(n: number, input: unknown, signal: AbortSignal): Promise<End | undefined> {
    const { clock } = this.#ports
    const until = untilIn(input)
    this.#sleeping.set(n, until)
    this.#rest()
    try {
      for (let left = until - clock.now(); left > 0; left = until - clock.now()) {
        await pause(Math.min(left, longestWaitMs), clock, AbortSignal.any([signal, this.#over.signal]))
        signal.throwIfAborted()
        if (this.#over.signal.aborted) return undefined
      }
    } finally {
      this.#sleeping.delete(n)
    }
    return { value: null }
  }

  /** Puts the running call to sleep if nothing but a time moves it: it runs again then, and is given what is on record. */
  #rest(): void {
    const until = Math.min(...this.#sleeping.values())
    if (!this.#isIdle || this.#sleeping.size < this.#underWay || until - this.#ports.clock.now() < leastSleepMs) return
    this.#ports.sleep(this.#key, until, true)
  }
}
