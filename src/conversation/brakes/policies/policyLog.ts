import type { PolicyStart } from '../../../protocol/braking.ts'

/** The last time that a policy fired. */
export interface LastFired {
  readonly turn: number
  readonly contextTokens: number
  /** True if any part of its plan was applied. */
  readonly hasChanged: boolean
}

/** Policies that have fired, according to the log so far. */
export class PolicyLog {
  readonly #last: Map<string, LastFired>

  constructor(kept: Iterable<readonly [string, LastFired]> = []) {
    this.#last = new Map(kept)
  }

  keep(): (readonly [string, LastFired])[] {
    return [...this.#last]
  }

  last(policy: string): LastFired | undefined {
    return this.#last.get(policy)
  }

  start({ policy, turn, tokens }: PolicyStart): void {
    this.#last.set(policy, { turn, contextTokens: tokens, hasChanged: false })
  }

  /** Notes that a part of its plan was applied. */
  change(policy: string): void {
    const last = this.#last.get(policy)
    if (last !== undefined) this.#last.set(policy, { ...last, hasChanged: true })
  }
}
