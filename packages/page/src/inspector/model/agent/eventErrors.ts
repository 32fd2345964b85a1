import type { AgentEvent } from '../../../../../../src/protocol/events.ts'
import { isFailure } from './eventGroups.ts'

/** Collects the failures of a growing list of events; each call looks only at new events. */
export class EventErrors {
  #source: readonly AgentEvent[] = []
  #seen = 0
  #found: AgentEvent[] = []

  /** Returns the failures among the first `count` events: the same array as long as it only grows. */
  of(source: readonly AgentEvent[], count: number): readonly AgentEvent[] {
    if (source !== this.#source || count < this.#seen) {
      this.#source = source
      this.#seen = 0
      this.#found = []
    }
    for (; this.#seen < count; this.#seen++) {
      const event = source[this.#seen]!
      if (isFailure(event)) this.#found.push(event)
    }
    return this.#found
  }
}

/**
 * Returns the failure after or before the one that is shown, or else after or before record `seq`. After the last it continues with the first.
 * Without either, returns the first, or backwards the last. `undefined` if there is none. Pure.
 */
export function nextError(
  errors: readonly AgentEvent[],
  step: 1 | -1,
  { shown, seq }: { readonly shown?: AgentEvent | null; readonly seq?: number },
): AgentEvent | undefined {
  const place = shown === undefined || shown === null ? -1 : errors.indexOf(shown)
  const ends = step === 1 ? errors[0] : errors.at(-1)
  if (place >= 0) return errors[place + step] ?? ends
  const from = shown?.seq ?? seq
  if (from === undefined) return ends
  return (step === 1 ? errors.find((error) => error.seq > from) : errors.findLast((error) => error.seq < from)) ?? ends
}
