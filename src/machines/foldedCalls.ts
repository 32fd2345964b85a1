import type { CallState } from './agentTypes.ts'
import { isAtWork, waitsForPeople } from './callFacts.ts'

/** Number of searches one by one before the places of all calls are indexed. A transition makes few, a log many. */
const mostSearched = 8

/**
 * The calls of a reply while records are folded over them. Copied with the first change and then changed in place, as a reply may make thousands,
 * with records for each.
 */
export class FoldedCalls {
  #calls: readonly CallState[]
  #isOwn = false
  /** The place of the last requested call. The next one is mostly the same or the one after it. */
  #last = 0
  #searched = 0
  #places: Map<string, number> | undefined
  /** Number of leading calls that all have their results. */
  #settled = 0
  #counts: { atWork: number; waiting: number } | undefined

  constructor(calls: readonly CallState[]) {
    this.#calls = calls
  }

  /** The list itself, which may still change in place. */
  get list(): readonly CallState[] {
    return this.#calls
  }

  /** True if some calls have no result yet. */
  get isOpen(): boolean {
    while (this.#calls[this.#settled]?.status === 'settled') this.#settled += 1
    return this.#settled < this.#calls.length
  }

  /** True if no call is at work, and some wait for people. */
  get isHeld(): boolean {
    if (this.#calls.length === 0) return false
    if (this.#counts === undefined) {
      this.#counts = { atWork: 0, waiting: 0 }
      for (const call of this.#calls) this.#count(call, 1)
    }
    return this.#counts.atWork === 0 && this.#counts.waiting > 0
  }

  /** Replaces the list with the calls of a new reply. */
  open(calls: readonly CallState[]): void {
    this.#calls = calls
    this.#isOwn = false
    this.#last = this.#searched = this.#settled = 0
    this.#places = this.#counts = undefined
  }

  /** Returns the call at a place, and notes the place, because the next record is probably about the same call. */
  at(place: number): CallState | undefined {
    this.#last = place
    return this.#calls[place]
  }

  find(callId: string): CallState | undefined {
    return this.#calls[this.#placeOf(callId)]
  }

  /** Changes a call; does nothing if there is no such call. */
  change(callId: string, change: Partial<CallState>): void {
    const call = this.find(callId)
    if (call !== undefined) this.put(this.#last, { ...call, ...change })
  }

  /** Replaces a call with its next state. */
  replace(call: CallState): void {
    if (this.find(call.callId) !== undefined) this.put(this.#last, call)
  }

  /** Puts a call in the place of its earlier state. */
  put(place: number, call: CallState): void {
    if (!this.#isOwn) this.#calls = [...this.#calls]
    this.#isOwn = true
    if (this.#counts !== undefined) {
      this.#count(this.#calls[place]!, -1)
      this.#count(call, 1)
    }
    ;(this.#calls as CallState[])[place] = call
    this.#last = place
  }

  #placeOf(callId: string): number {
    for (const place of [this.#last, this.#last + 1])
      if (this.#calls[place]?.callId === callId) return (this.#last = place)
    return (this.#last = this.#search(callId))
  }

  #search(callId: string): number {
    this.#searched += 1
    if (this.#searched <= mostSearched) return this.#calls.findIndex((call) => call.callId === callId)
    this.#places ??= new Map(this.#calls.map((call, place) => [call.callId, place]))
    return this.#places.get(callId) ?? -1
  }

  #count(call: CallState, by: 1 | -1): void {
    if (isAtWork(call)) this.#counts!.atWork += by
    else if (waitsForPeople(call)) this.#counts!.waiting += by
  }
}
