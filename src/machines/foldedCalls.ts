import type { CallState } from './agentTypes.ts'
import { isAtWork, waitsForPeople } from './calls.ts'

/** The calls of a reply while records are folded over them: changed in place, as a reply may make thousands, with records for each. */
export class FoldedCalls {
  readonly #calls: CallState[]
  readonly #places = new Map<string, number>()
  #open = 0
  #atWork = 0
  #waiting = 0

  constructor(calls: readonly CallState[] = []) {
    this.#calls = [...calls]
    for (const [place, call] of calls.entries()) {
      this.#places.set(call.callId, place)
      this.#count(call, 1)
    }
  }

  get length(): number {
    return this.#calls.length
  }

  /** Copies of the calls: they do not change with records folded afterwards. */
  get all(): CallState[] {
    return [...this.#calls]
  }

  /** True if some calls have no result yet. */
  get isOpen(): boolean {
    return this.#open > 0
  }

  /** True if no call is at work, and some wait for people. */
  get isHeld(): boolean {
    return this.#atWork === 0 && this.#waiting > 0
  }

  find(callId: string): CallState | undefined {
    return this.#calls[this.#places.get(callId) ?? -1]
  }

  /** Changes a call; does nothing where there is no such call. */
  change(callId: string, change: Partial<CallState>): void {
    const call = this.find(callId)
    if (call === undefined) return
    const changed = { ...call, ...change }
    this.#count(call, -1)
    this.#count(changed, 1)
    this.#calls[this.#places.get(callId)!] = changed
  }

  #count(call: CallState, by: 1 | -1): void {
    if (call.status !== 'settled') this.#open += by
    if (isAtWork(call)) this.#atWork += by
    else if (waitsForPeople(call)) this.#waiting += by
  }
}
