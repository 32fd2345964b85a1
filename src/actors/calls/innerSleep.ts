import { messageOf } from '../../protocol/errors.ts'
import type { AgentPorts } from '../agentPorts.ts'
import { pause } from '../../protocol/ports/pause.ts'
import { codeOf, failed, type End } from './innerEnds.ts'

/** Minimum wait, in milliseconds, for which a running call is ended and run again later: running a script again costs little. */
const leastSleepMs = 10_000

/** Longest wait at a time, in milliseconds: a clock may be set, and timers of some hosts accept no longer waits. */
const longestWaitMs = 86_400_000

/** Returns the time of a sleep as its record has it, or the end of a sleep whose time is invalid. */
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

/** Returns the recorded time of a sleep; 0, which has passed, if the record has none. */
function untilIn(input: unknown): number {
  const until = typeof input === 'object' && input !== null && 'until' in input ? input.until : undefined
  return typeof until === 'number' ? until : 0
}

/** The sleeps among the calls that one running call makes. */
export class InnerSleeps {
  readonly #ports: AgentPorts
  readonly #key: string
  /** Times until which calls sleep, by the numbers of the calls. */
  readonly #sleeping = new Map<number, number>()
  /** Number of calls under way, including those that sleep. */
  #underWay = 0
  /** True while the running call cannot continue without a result. */
  #isIdle = false
  readonly #over = new AbortController()

  /** `key`: the key of the running call. */
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

  /** Ends the sleeps, because nothing waits for them any more. */
  over(): void {
    this.#over.abort()
  }

  /** Resolves once the clock has reached the recorded time, or with `undefined` when nothing waits for it. Rejects with the reason of `signal`. */
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

  /** Puts the running call to sleep if only a time can continue it. It runs again then and is given the recorded results. */
  #rest(): void {
    const until = Math.min(...this.#sleeping.values())
    if (!this.#isIdle || this.#sleeping.size < this.#underWay || until - this.#ports.clock.now() < leastSleepMs) return
    this.#ports.sleep(this.#key, until, true)
  }
}
