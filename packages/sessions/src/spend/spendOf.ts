import { RuntimeError, toErrorInfo, type ErrorInfo } from '../../../../src/protocol/errors.ts'
import { checkMetadata, type Metadata } from '../../../../src/protocol/metadata.ts'
import type { LogEntry, LogQuery } from '../../../../src/protocol/ports/logPages.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import type { Spend, SpendBy, SpendSaved } from '../../../wire/src/spend.ts'
import { checkVersion } from '../../../../src/protocol/upgradeRecord.ts'
import { allLogs, pagesOf } from '../../../stores/src/logPages.ts'
import type { Saved } from '../savings/savings.ts'
import { LogUses, type Use } from './logUses.ts'
import { SpendBook } from './spendBook.ts'

/** Filter and grouping of the spending. */
export interface SpendOptions {
  /** Grouping of the sums. Default: `session`. */
  readonly by?: SpendBy
  /** Counts only spending from this time on, in epoch milliseconds. Logs last written before it are not read. */
  readonly since?: number
  /** Counts only spending before this time, in epoch milliseconds. */
  readonly until?: number
  /** Counts only sessions whose metadata has all of these values. */
  readonly metadata?: Metadata
  /** Length of a time slice in milliseconds. Each group then has a series of costs from `since` on, at most 1,000 entries. Needs `since`. */
  readonly every?: number
  /** Stops the reading, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

/** A log that could not be read to its end. Its spending up to there is counted. */
export interface UnreadLog {
  readonly agentId: string
  readonly error: ErrorInfo
}

/** Spending of a store. */
export interface StoreSpend extends Spend {
  /** Number of logs that could not be read to their end. */
  readonly unread: number
  /** The first 20 of them. */
  readonly unreadLogs: readonly UnreadLog[]
}

/** Uses of models in one log, the savings from its brakes, and the error that kept it from being read to its end. */
export interface ReadUses extends Pick<LogUses, 'uses' | 'saved'> {
  readonly error?: ErrorInfo
}

/** Maximum number of unreadable logs that are named. */
const mostNamed = 20

/**
 * Sums what the agents of a store spent on models: by session, a tree of agents being one; by user, the value `user` of their metadata; by model; by
 * definition; or by any other value of their metadata. The most expensive group comes first. Each log is read by itself, one after the other, and
 * nothing of it is kept. Use without a known price is counted in tokens, apart. A sub-agent without a log counts as its caller says.
 *
 * @throws RuntimeError `INVALID_OPTION`; `STORE_READ_FAILED` when the store cannot list its logs.
 */
export async function spendOf(store: Store, options: SpendOptions = {}): Promise<StoreSpend> {
  checkSpend('spendOf', options)
  const { metadata } = options
  return await sumSpend(store, metadata === undefined ? {} : { metadata }, options, ({ id }) => readUses(store, id))
}

/** @throws RuntimeError `INVALID_OPTION` */
export function checkSpend(verb: string, { by, since = 0, until = Infinity, every, metadata }: SpendOptions): void {
  const wrong = (what: string): RuntimeError => new RuntimeError('INVALID_OPTION', `${verb}: ${what}`)
  checkMetadata(verb, metadata)
  if (!isSpendBy(by ?? 'session'))
    throw wrong('by: give "session", "user", "model", "definition" or { metadata: <key> }.')
  if (!Number.isFinite(since) || Number.isNaN(until)) throw wrong('since and until: give times in epoch milliseconds.')
  if (until < since) throw wrong(`until: give a time after since, not ${until}.`)
  if (every === undefined) return
  if (!(every > 0) || since === 0) throw wrong('every: give milliseconds above 0, and since.')
}

const words: ReadonlySet<unknown> = new Set(['session', 'user', 'model', 'definition'])

const isSpendBy = (by: unknown): by is SpendBy =>
  words.has(by) ||
  (typeof by === 'object' && by !== null && 'metadata' in by && typeof by.metadata === 'string' && by.metadata !== '')

/** Reads the uses in a log. Never rejects. */
export async function readUses(store: Store, agentId: string, into = new LogUses()): Promise<ReadUses> {
  try {
    for await (const record of store.read(agentId, into.next)) {
      checkVersion(agentId, record)
      into.apply(record)
    }
    return usesIn(into)
  } catch (thrown) {
    return { ...usesIn(into), error: toErrorInfo(thrown, 'STORE_READ_FAILED') }
  }
}

/** Returns the uses collected from a log so far. Pure. */
export const usesIn = ({ uses, saved }: LogUses): ReadUses => ({ uses, saved })

/** Sums the logs that match a query. `read` returns the uses in a log, and `choose` leaves out logs. */
export async function sumSpend(
  store: Store,
  query: LogQuery,
  { by = 'session', since = 0, until = Infinity, every, signal }: SpendOptions,
  read: (log: LogEntry) => Promise<ReadUses>,
  choose: (log: LogEntry) => boolean = () => true,
): Promise<StoreSpend> {
  const pages = pagesOf(store)
  const book = new SpendBook(by, { since, every })
  const unreadLogs: UnreadLog[] = []
  let unread = 0
  const savings: Saved[] = []
  const seen = new Set<string>()
  /** Spending of sub-agents whose logs have not come yet, as reported by their callers. */
  const told = new Map<string, { readonly log: LogEntry; readonly uses: Use[] }>()
  const isWanted = ({ time }: Use): boolean => time >= since && time < until
  for await (const log of allLogs(pages, query)) {
    signal?.throwIfAborted()
    // The one written last comes first.
    if (log.writtenAt < since) break
    if (!choose(log)) continue
    seen.add(log.id)
    told.delete(log.id)
    const { uses, saved, error } = await read(log)
    if (saved !== undefined) savings.push(saved)
    if (error !== undefined && (unread += 1) <= mostNamed) unreadLogs.push({ agentId: log.id, error })
    for (const use of uses) {
      if (!isWanted(use)) continue
      const { childId } = use
      if (childId === undefined) book.add(log, use)
      else if (!seen.has(childId)) {
        const known = told.get(childId)
        if (known === undefined) told.set(childId, { log, uses: [use] })
        else known.uses.push(use)
      }
    }
  }
  // Some have a log that was left out, as it was last written before `since`.
  for await (const { id } of logsAmong(pages, [...told.keys()])) told.delete(id)
  for (const { log, uses } of told.values()) for (const use of uses) book.add(log, use)
  const isWhole = since === 0 && until === Infinity
  return { ...book.spend, ...(isWhole ? { saved: sumSaved(savings) } : {}), unread, unreadLogs }
}

function sumSaved(savings: readonly Saved[]): SpendSaved {
  const sum = { agents: 0, tokens: 0, usd: { low: 0, high: 0 }, unpriced: { agents: 0, tokens: 0 } }
  for (const { tokens, usd } of savings) {
    const into = usd === null ? sum.unpriced : sum
    into.agents += 1
    into.tokens += tokens
    sum.usd.low += usd?.low ?? 0
    sum.usd.high += usd?.high ?? 0
  }
  return sum
}

/** Maximum number of logs that are requested by id at a time. */
const mostIds = 500

async function* logsAmong(pages: ReturnType<typeof pagesOf>, ids: readonly string[]): AsyncGenerator<LogEntry> {
  for (let from = 0; from < ids.length; from += mostIds)
    yield* allLogs(pages, { ids: ids.slice(from, from + mostIds), limit: mostIds })
}
