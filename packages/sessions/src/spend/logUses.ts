import { unpricedBy } from '../savings/reckoning.ts'
import { SavedSoFar, type Saved } from '../savings/savings.ts'
import { spentBy } from '../../../../src/log/spent.ts'
import type { Usage } from '../../../../src/protocol/messages.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import { addUsage, totalTokens } from '../../../../src/protocol/text/messageText.ts'

/** Use of a model, from the records of one log. */
export interface Use {
  /** Epoch milliseconds. */
  readonly time: number
  readonly model: string
  /** Number of requests that were answered, at least in part, or failed after using tokens. */
  readonly requests: number
  readonly usage: Usage
  readonly costUsd: number
  /** True if its price is not known. */
  readonly isUnpriced: boolean
  /** Id of the sub-agent for which a caller reported this use. It counts only if that agent has no log. */
  readonly childId?: string
}

export interface LogUsesOptions {
  /** Length of the time slices, counted from 1970, within which uses are merged. Default: no merging. */
  readonly sliceMs?: number
  /** Maximum number of uses kept. Beyond it the oldest half is merged into one per model. Default: none. */
  readonly most?: number
}

/**
 * Collects the uses of models in one log, record by record, oldest first. Records that are imported, or belong to the source of a fork, were paid for
 * elsewhere. Never throws.
 */
export class LogUses {
  /** Time before which uses are merged, so that their own times are no longer known. 0 if none are. */
  joinedUntil = 0
  /** `seq` of the next record. */
  next = 1
  readonly #sliceMs: number
  readonly #most: number
  readonly #childOf = new Map<string, string>()
  readonly #saved = new SavedSoFar()
  #uses: Use[] = []
  #model = ''
  #isUnpriced = false
  #imported = 0

  constructor({ sliceMs = 0, most = Infinity }: LogUsesOptions = {}) {
    this.#sliceMs = sliceMs
    this.#most = most
  }

  get uses(): readonly Use[] {
    return this.#uses
  }

  /** Savings from its brakes over the whole log; `undefined` if they did nothing. */
  get saved(): Saved | undefined {
    return this.#saved.saved
  }

  /** Takes in the next record. */
  apply(record: LogRecord): void {
    this.next = record.seq + 1
    this.#saved.apply(record)
    if (record.type === 'agent.created') {
      this.#model = record.model
      this.#imported = record.imported ?? 0
    } else if (this.#imported > 0) this.#imported -= 1
    else if (record.type === 'tool.start' && record.childId !== undefined)
      this.#childOf.set(record.callId, record.childId)
    else this.#see(record)
  }

  #see(record: LogRecord): void {
    const used = spentBy(record)
    const childId = this.#childBy(record)
    if (used === undefined || (childId === undefined && isOfCall(record))) return
    const { usage, costUsd } = used
    if (record.type === 'reply.end') {
      this.#model = record.message.model
      this.#isUnpriced = isUnpricedBy(unpricedBy(record.prices))
    }
    const isUsed = totalTokens(usage) > 0 || costUsd > 0
    if (!isUsed) return
    this.#add({
      time: this.#sliceMs === 0 ? record.time : Math.floor(record.time / this.#sliceMs) * this.#sliceMs,
      model: this.#model,
      requests: childId === undefined ? 1 : 0,
      usage,
      costUsd: Number.isFinite(costUsd) ? costUsd : 0,
      // A cost that is noted was computed at some price.
      isUnpriced: this.#isUnpriced && !(costUsd > 0),
      ...(childId === undefined ? {} : { childId }),
    })
  }

  #childBy(record: LogRecord): string | undefined {
    if (record.type === 'child.ended') return record.childId
    if (record.type !== 'tool.end') return undefined
    const childId = this.#childOf.get(record.callId)
    this.#childOf.delete(record.callId)
    return childId
  }

  #add(use: Use): void {
    if (this.#sliceMs > 0) {
      const at = this.#uses.findLastIndex((one) => one.time !== use.time || isAlike(one, use))
      const same = this.#uses[at]
      if (same !== undefined && same.time === use.time) {
        this.#uses[at] = join(same, use)
        return
      }
    }
    this.#uses.push(use)
    if (this.#uses.length > this.#most) this.#joinOldest()
  }

  #joinOldest(): void {
    const half = Math.ceil(this.#uses.length / 2)
    const joined: Use[] = []
    for (const use of this.#uses.slice(0, half)) {
      const at = joined.findIndex((one) => isAlike(one, use))
      if (at < 0) joined.push(use)
      else joined[at] = join(joined[at]!, use)
    }
    this.joinedUntil = this.#uses[half - 1]!.time + Math.max(1, this.#sliceMs)
    this.#uses = [...joined, ...this.#uses.slice(half)]
  }
}

/** Returns true if a price is unknown. Free models have a known price of zero. */
const isUnpricedBy = (why: ReturnType<typeof unpricedBy>): boolean => why !== undefined && why !== 'free'

const isOfCall = ({ type }: LogRecord): boolean => type === 'tool.end' || type === 'child.ended'

const isAlike = (one: Use, other: Use): boolean =>
  one.model === other.model && one.isUnpriced === other.isUnpriced && one.childId === other.childId

const join = (one: Use, other: Use): Use => ({
  ...other,
  requests: one.requests + other.requests,
  usage: addUsage(one.usage, other.usage),
  costUsd: one.costUsd + other.costUsd,
})
