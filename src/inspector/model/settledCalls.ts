import { signal } from '@preact/signals'
import type { Clock } from '../../protocol/clock.ts'
import type { Pending, PendingOf } from '../../protocol/pending.ts'

/** How long a call stands in its place before a key decides it: a person who aimed at the one before has seen the change by then. */
const settleMs = 400

/** What keys may decide of the calls that are shown. */
export class Deciding {
  /** Calls that stand where they stand long enough, by key; none while another has just become the one that keys decide. */
  readonly settled = signal<ReadonlySet<string>>(new Set())
  /** Calls for which a person has typed what is not sent. */
  readonly drafts = signal<ReadonlySet<string>>(new Set())
  /** What a person has typed for a call, by its key, also while its card is out of sight. */
  readonly typed = new Map<string, object>()
  /** The one that stands open among them; `null`: none does. */
  readonly opened = signal<string | null>(null)
  /** Whether only their count is to be seen. */
  readonly isFolded = signal(false)
  readonly #clock: Clock
  #keys: readonly string[] = []
  #target: string | undefined
  #cancel: () => void = () => {}

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** These calls are shown, and keys decide this one of them; with `isChosen` a person has just moved to it, and knows. */
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

  /** Whether a person has typed something for a call. */
  draft(key: string, isOne: boolean): void {
    const drafts = this.drafts.peek()
    if (drafts.has(key) === isOne) return
    this.drafts.value = new Set(isOne ? [...drafts, key] : [...drafts].filter((other) => other !== key))
  }

  /** Nothing is shown any more. Idempotent. */
  close(): void {
    this.#cancel()
  }

  /** Whether a key may decide a call. */
  may(key: string): boolean {
    return this.settled.value.has(key) && !this.drafts.value.has(key)
  }
}

/** The call that a key decides: the one that stands open, which may be none to approve; else the oldest that waits for approval. Pure. */
export function targetOf(pending: readonly Pending[], opened: string | null): PendingOf<'approval'> | undefined {
  const isApproval = (one: Pending | undefined): one is PendingOf<'approval'> => one?.kind === 'approval'
  const open = pending.find(({ key }) => key === opened)
  if (open !== undefined) return isApproval(open) ? open : undefined
  return pending.find(isApproval)
}
