import { signal } from '@preact/signals'
import type { Clock } from '../../../../../../src/protocol/ports/clock.ts'
import type { Pending, PendingOf } from '../../../../../../src/protocol/runs/pending.ts'

/** Milliseconds that a call must be in its place before a key decides it. A person who aimed at another call has seen the change by then. */
const settleMs = 400

/** Tracks which of the shown calls keys may decide. */
export class Deciding {
  /** Calls that have been in their place long enough, by key; empty just after another call has become the one that keys decide. */
  readonly settled = signal<ReadonlySet<string>>(new Set())
  /** Keys of the calls for which a person has typed unsent input. */
  readonly drafts = signal<ReadonlySet<string>>(new Set())
  /** Unsent input for a call, by its key; kept while its card is out of sight. */
  readonly typed = new Map<string, object>()
  /** Key of the call that is open; `null`: none is. */
  readonly opened = signal<string | null>(null)
  /** True while only the number of calls is shown. */
  readonly isFolded = signal(false)
  readonly #clock: Clock
  #keys: readonly string[] = []
  #target: string | undefined
  #cancel: () => void = () => {}

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Takes the shown calls and the one that keys decide; `isChosen`: a person has just moved to it, and has seen it. */
  show(keys: readonly string[], target: string | undefined, isChosen = false): void {
    const isSame = target === this.#target && keys.length === this.#keys.length
    // An agent that streams says so many times a second.
    if (isSame && keys.every((key, index) => key === this.#keys[index])) return
    const before = this.settled.peek()
    const kept = isChosen || target === this.#target ? keys.filter((key) => before.has(key)) : []
    this.#target = target
    this.#keys = keys
    this.#cancel()
    this.settled.value = new Set(kept)
    if (kept.length < keys.length)
      this.#cancel = this.#clock.after(settleMs, () => (this.settled.value = new Set(keys)))
  }

  /** Adds a call to the drafts, or removes it if `isOne` is false. */
  draft(key: string, isOne: boolean): void {
    const drafts = this.drafts.peek()
    if (drafts.has(key) === isOne) return
    this.drafts.value = new Set(isOne ? [...drafts, key] : [...drafts].filter((other) => other !== key))
  }

  /** Stops the timer when no call is shown any more. Idempotent. */
  close(): void {
    this.#cancel()
  }

  /** Returns true if a key may decide a call. */
  may(key: string): boolean {
    return this.settled.value.has(key) && !this.drafts.value.has(key)
  }
}

/**
 * Returns the call that a key decides: the open one if it waits for approval, `undefined` if another one is open, else the oldest that
 * waits for approval. Pure.
 */
export function targetOf(pending: readonly Pending[], opened: string | null): PendingOf<'approval'> | undefined {
  const isApproval = (one: Pending | undefined): one is PendingOf<'approval'> => one?.kind === 'approval'
  const open = pending.find(({ key }) => key === opened)
  if (open !== undefined) return isApproval(open) ? open : undefined
  return pending.find(isApproval)
}
