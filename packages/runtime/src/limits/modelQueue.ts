import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { WaitReason } from '../../../../src/protocol/events.ts'
import { Limit, type Obstacle } from './limit.ts'
import { covers, type ModelLimits } from './modelLimit.ts'

/** Maximum pause of a whole queue at a provider's request, in milliseconds. After it one call tries again. */
const maxPauseMs = 600_000

/** A call that may be made. */
export interface Permit {
  /** Reports the tokens that the call used, as far as they are known. */
  used(tokens: number): void
  /** Reports that the call has ended. Idempotent. */
  leave(): void
}

/** A call that is to be made. */
export interface Entry {
  readonly model: string
  /** Key by which calls take turns, such as the id of the root agent. */
  readonly root: string
  /** Returns the tokens that the request is estimated to hold. */
  readonly tokens: () => number
  readonly signal: AbortSignal
  /** True to give the call up rather than wait while its provider is paused. */
  readonly unlessPaused?: boolean
  /** Called when the call cannot be made at once. `ahead`: number of waiting calls of the model. */
  waits(why: WaitReason, ahead: number): void
}

interface Waiting {
  readonly tokens: number
  readonly unlessPaused: boolean
  grant(permit: Permit | undefined): void
}

/** The calls of one model that wait, by root, in the order of their turns. */
interface Lane {
  readonly model: string
  readonly limits: readonly Limit[]
  readonly roots: Map<string, Set<Waiting>>
  length: number
  why: WaitReason
}

/**
 * Lets calls of models through within limits, in turn: for each model, the roots take turns, and the calls of one root go in order. A call
 * that does not fit yet is not overtaken by others that need the same limit.
 */
export class ModelQueue {
  readonly #limits: readonly Limit[]
  readonly #clock: Clock
  readonly #limitsOf = new Map<string, readonly Limit[]>()
  /** Models with waiting calls; one that was served goes to the end. */
  readonly #lanes = new Map<string, Lane>()
  readonly #pausedUntil = new Map<string, number>()
  #stopTimer = (): void => {}

  /** `share` returns this process's share of the limits. */
  constructor(limits: ModelLimits, clock: Clock, share: () => number = () => 1) {
    this.#limits = [limits].flat().map((rule) => new Limit(rule, share))
    this.#clock = clock
  }

  /**
   * Resolves when the call may be made. Resolves with `undefined` once its signal is aborted, or if its provider is paused and the call does not wait
   * for that.
   * @throws RuntimeError `MODEL_LIMIT`: it never fits.
   */
  async enter(entry: Entry): Promise<Permit | undefined> {
    const { model, root, signal, unlessPaused = false } = entry
    const limits = this.#limitsFor(model)
    if (limits.length === 0) return freePass
    if (signal.aborted || (unlessPaused && this.pausedMs(model) > 0)) return undefined
    const tokens = limits.some(({ rule }) => rule.tokensPerMinute !== undefined) ? entry.tokens() : 0
    checkPossible(model, tokens, limits)
    const { promise, resolve } = Promise.withResolvers<Permit | undefined>()
    const waiting = { tokens, unlessPaused, grant: resolve }
    const lane = this.#lane(model, limits)
    const ahead = lane.length
    add(lane, root, waiting)
    this.#serve()
    if (lane.roots.get(root)?.has(waiting) !== true) return promise
    const giveUp = (): void => {
      if (!remove(lane, root, waiting)) return
      resolve(undefined)
      this.#serve()
    }
    signal.addEventListener('abort', giveUp, { once: true })
    entry.waits(lane.why, ahead)
    try {
      return await promise
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  /** Returns the remaining pause that the model's provider asked for, in milliseconds. */
  pausedMs(model: string): number {
    return Math.max(0, (this.#pausedUntil.get(model) ?? 0) - this.#clock.now())
  }

  /** Pauses the calls of a model for a while because its provider asked for it. */
  pause(model: string, ms: number): void {
    if (this.#limitsFor(model).length === 0) return
    const until = this.#clock.now() + Math.min(ms, maxPauseMs)
    this.#pausedUntil.set(model, Math.max(until, this.#pausedUntil.get(model) ?? 0))
    const lane = this.#lanes.get(model)
    if (lane === undefined) return
    for (const [root, queue] of lane.roots)
      for (const waiting of queue) if (waiting.unlessPaused && remove(lane, root, waiting)) waiting.grant(undefined)
    this.#serve()
  }

  #limitsFor(model: string): readonly Limit[] {
    const known = this.#limitsOf.get(model) ?? this.#limits.filter(({ rule }) => covers(rule, model))
    this.#limitsOf.set(model, known)
    return known
  }

  #lane(model: string, limits: readonly Limit[]): Lane {
    const lane = this.#lanes.get(model) ?? { model, limits, roots: new Map(), length: 0, why: 'concurrency' }
    this.#lanes.set(model, lane)
    return lane
  }

  /** Makes every call that may be made now, and sets the timer for the next. */
  #serve(): void {
    this.#stopTimer()
    let soonest: number | undefined
    do soonest = this.#serveNext()
    while (soonest === undefined)
    if (soonest < Infinity) this.#stopTimer = this.#clock.after(soonest - this.#clock.now(), () => this.#serve())
  }

  /** Makes the next call. If none can be made, returns the time of the next one. */
  #serveNext(): number | undefined {
    const now = this.#clock.now()
    const claimed = new Map<Limit, Obstacle>()
    let soonest = Infinity
    for (const lane of this.#lanes.values()) {
      if (lane.length === 0) {
        this.#lanes.delete(lane.model)
        continue
      }
      const obstacle = this.#obstacle(lane, claimed, now)
      if (obstacle === undefined) {
        this.#begin(lane, now)
        return undefined
      }
      lane.why = obstacle.why
      soonest = Math.min(soonest, obstacle.at)
    }
    return soonest
  }

  /** Returns the obstacle that the next call of a lane waits for. Reserves the limits that the call needs. */
  #obstacle({ model, limits, roots }: Lane, claimed: Map<Limit, Obstacle>, now: number): Obstacle | undefined {
    const until = this.#pausedUntil.get(model) ?? 0
    if (until > now) return { why: 'retryAfter', at: until }
    for (const limit of limits) {
      const before = claimed.get(limit)
      if (before !== undefined) return { ...before, at: Infinity }
    }
    const [waiting] = firstOf(roots)[1]
    let latest: Obstacle | undefined
    for (const limit of limits) {
      const obstacle = limit.obstacle(waiting!.tokens, now)
      if (obstacle === undefined) continue
      claimed.set(limit, obstacle)
      if (latest === undefined || obstacle.at > latest.at) latest = obstacle
    }
    return latest
  }

  #begin(lane: Lane, now: number): void {
    const [root, queue] = firstOf(lane.roots)
    const [waiting] = queue
    remove(lane, root, waiting!)
    // Others go first now: of the roots, and of the models.
    if (lane.roots.delete(root) && queue.size > 0) lane.roots.set(root, queue)
    this.#lanes.delete(lane.model)
    if (lane.length > 0) this.#lanes.set(lane.model, lane)
    const begun = lane.limits.map((limit) => ({ limit, used: limit.begin(waiting!.tokens, now) }))
    let hasLeft = false
    waiting!.grant({
      used: (tokens) => begun.forEach(({ limit, used }) => limit.correct(used, tokens, this.#clock.now())),
      leave: () => {
        if (hasLeft) return
        hasLeft = true
        for (const { limit } of begun) limit.end()
        this.#serve()
      },
    })
  }
}

const freePass: Permit = Object.freeze({ used() {}, leave() {} })

const firstOf = (roots: Lane['roots']): [string, Set<Waiting>] => roots.entries().next().value!

function add(lane: Lane, root: string, waiting: Waiting): void {
  const queue = lane.roots.get(root) ?? new Set()
  queue.add(waiting)
  lane.roots.set(root, queue)
  lane.length += 1
}

/** Removes a call from its lane; returns `false` if it no longer waits. */
function remove(lane: Lane, root: string, waiting: Waiting): boolean {
  const queue = lane.roots.get(root)
  if (queue?.delete(waiting) !== true) return false
  lane.length -= 1
  if (queue.size === 0) lane.roots.delete(root)
  return true
}

function checkPossible(model: string, tokens: number, limits: readonly Limit[]): void {
  const most = Math.min(...limits.map(({ rule }) => rule.tokensPerMinute ?? Infinity))
  if (tokens <= most) return
  const what = `A request to ${model} of about ${tokens} tokens can never be made, as tokensPerMinute is ${most}.`
  throw new RuntimeError('MODEL_LIMIT', what)
}
