import type { WaitReason } from '../../../../src/protocol/events.ts'
import { MinuteWindow, type Used } from './minuteWindow.ts'
import type { ModelLimit } from './modelLimit.ts'

/** Reason why a call may not be made yet, and the time from which it may; `Infinity`: once another call has ended. */
export interface Obstacle {
  readonly why: WaitReason
  readonly at: number
}

/** A limit with its current use. */
export class Limit {
  readonly rule: ModelLimit
  #active = 0
  readonly #requests = new MinuteWindow()
  readonly #tokens = new MinuteWindow()

  /** Returns this process's share of the limit, above 0 and at most 1. */
  readonly #share: () => number

  constructor(rule: ModelLimit, share: () => number) {
    this.rule = rule
    this.#share = share
  }

  /** Returns the obstacle to a call of this many tokens; `undefined` if it may be made. */
  obstacle(tokens: number, now: number): Obstacle | undefined {
    const { concurrency = Infinity, requestsPerMinute, tokensPerMinute } = this.rule
    const share = this.#share()
    const own = (limit: number): number => Math.max(1, Math.floor(limit * share))
    if (this.#active >= own(concurrency)) return { why: 'concurrency', at: Infinity }
    const requests = requestsPerMinute === undefined ? now : this.#requests.fitsAt(1, own(requestsPerMinute), now)
    if (requests > now) return { why: 'requestsPerMinute', at: requests }
    // A request larger than the share fits into the limit: it begins once nothing else counts.
    const most = own(tokensPerMinute ?? 0)
    const room = tokensPerMinute === undefined ? now : this.#tokens.fitsAt(Math.min(tokens, most), most, now)
    return room > now ? { why: 'tokensPerMinute', at: room } : undefined
  }

  /** Notes that a call begins. */
  begin(tokens: number, now: number): Used | undefined {
    this.#active += 1
    if (this.rule.requestsPerMinute !== undefined) this.#requests.add(1, now)
    return this.rule.tokensPerMinute === undefined ? undefined : this.#tokens.add(tokens, now)
  }

  /** Corrects the tokens of a call once its usage is known. */
  correct(used: Used | undefined, tokens: number, now: number): void {
    if (used !== undefined) this.#tokens.correct(used, tokens, now)
  }

  /** Notes that a call has ended. */
  end(): void {
    this.#active -= 1
  }
}
