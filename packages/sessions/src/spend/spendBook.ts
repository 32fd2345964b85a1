import type { Spend, SpendAmount, SpendBy } from '../../../wire/src/spend.ts'
import type { LogEntry } from '../../../../src/protocol/ports/logPages.ts'
import { addUsage, noUsage } from '../../../../src/protocol/text/messageText.ts'
import type { Use } from './logUses.ts'

/** Maximum number of entries in a series. */
const mostSlices = 1_000

type Sums = { -readonly [K in keyof SpendAmount]: SpendAmount[K] }
interface Group extends Sums {
  readonly key: string | null
  readonly ids: Set<string>
  readonly over: number[]
}

const nothing = (): Sums => ({ requests: 0, usage: noUsage, costUsd: 0, unpriced: { requests: 0, usage: noUsage } })

function add(sums: Sums, { requests, usage, costUsd, isUnpriced }: Use): void {
  sums.requests += requests
  sums.usage = addUsage(sums.usage, usage)
  sums.costUsd += costUsd
  if (!isUnpriced) return
  const { unpriced } = sums
  sums.unpriced = { requests: unpriced.requests + requests, usage: addUsage(unpriced.usage, usage) }
}

const tokensIn = ({ usage: { input, output, cacheRead, cacheWrite } }: SpendAmount): number =>
  input + output + cacheRead + cacheWrite

/** Sums uses by key. */
export class SpendBook {
  readonly #by: SpendBy
  readonly #since: number
  readonly #every: number | undefined
  readonly #all = nothing()
  readonly #groups = new Map<string | null, Group>()

  constructor(by: SpendBy, { since, every }: { readonly since: number; readonly every: number | undefined }) {
    this.#by = by
    this.#since = since
    this.#every = every
  }

  add(log: LogEntry, use: Use): void {
    const key = this.#keyOf(log, use)
    let group = this.#groups.get(key)
    if (group === undefined) this.#groups.set(key, (group = { ...nothing(), key, ids: new Set(), over: [] }))
    add(this.#all, use)
    add(group, use)
    group.ids.add(use.childId ?? log.id)
    if (this.#every === undefined || use.costUsd === 0) return
    const at = Math.floor((use.time - this.#since) / this.#every)
    if (at >= mostSlices) return
    while (group.over.length <= at) group.over.push(0)
    group.over[at]! += use.costUsd
  }

  get spend(): Spend {
    const groups = [...this.#groups.values()].toSorted(
      (a, b) => b.costUsd - a.costUsd || tokensIn(b) - tokensIn(a) || ((a.key ?? '') < (b.key ?? '') ? -1 : 1),
    )
    return {
      by: this.#by,
      ...this.#all,
      groups: groups.map(({ ids, over, ...sums }) => ({
        ...sums,
        agents: ids.size,
        ...(this.#every === undefined ? {} : { over }),
      })),
    }
  }

  #keyOf({ id, origin }: LogEntry, { model }: Use): string | null {
    const by = this.#by
    if (by === 'model') return model === '' ? null : model
    if (by === 'session') return origin?.path[0] ?? id
    if (by === 'definition') return origin?.definition ?? null
    const value = origin?.metadata?.[by === 'user' ? 'user' : by.metadata]
    return value === undefined ? null : String(value)
  }
}
