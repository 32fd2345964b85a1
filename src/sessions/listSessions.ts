import { toErrorInfo, type ErrorInfo } from '../protocol/errors.ts'
import { checkMetadata, hasMetadata, type Metadata } from '../protocol/metadata.ts'
import type { Store } from '../protocol/store.ts'
import { checkVersion } from '../protocol/upgradeRecord.ts'
import { SessionProjection } from './sessionProjection.ts'
import type { Session } from './session.ts'

const none: Metadata = Object.freeze({})

/** A session in a list. */
export interface SessionSummary extends Omit<Session, 'runs' | 'changes'> {
  /** How many there are. */
  readonly runs: number
  readonly turns: number
  /** Ids of the sessions that were forked from this one's own log. */
  readonly forks: readonly string[]
  /** Ids of the sessions whose parent this one is. */
  readonly children: readonly string[]
  /** Why the log cannot be read; the rest is what could be, up to there. */
  readonly error?: ErrorInfo
}

/** A session without its runs. Pure; `forks` and `children` are empty, as only a list can tell them. */
export function summaryOf({ runs, changes: _, ...session }: Session): SessionSummary {
  const turns = runs.reduce((sum, run) => sum + run.turns.length, 0)
  return { ...session, runs: runs.length, turns, forks: [], children: [] }
}

/**
 * The sessions of a store, the one written last first. A log that cannot be read is in the list with its `error`. Reads every
 * log to its end, one after the other. `metadata`: only sessions that have all of these values.
 *
 * @throws RuntimeError `INVALID_OPTION`; `STORE_READ_FAILED` when the store cannot tell what it has.
 */
export async function listSessions(
  store: Store,
  options: { readonly metadata?: Metadata } = {},
): Promise<SessionSummary[]> {
  const { metadata = none } = options
  checkMetadata('listSessions', metadata)
  const summaries: SessionSummary[] = []
  for (const agentId of await store.list()) {
    const summary = await summarise(store, agentId)
    if (summary !== undefined) summaries.push(summary)
  }
  const bySource = groupIds(summaries, ({ forkedFrom }) => forkedFrom?.agentId)
  const byParent = groupIds(summaries, ({ path }) => path.at(-1))
  return summaries
    .filter((summary) => hasMetadata(summary.metadata, metadata))
    .map((summary) => ({
      ...summary,
      forks: bySource.get(summary.id) ?? [],
      children: byParent.get(summary.id) ?? [],
    }))
    .toSorted((a, b) => b.updatedAt - a.updatedAt)
}

/** `undefined` when the log was deleted meanwhile. */
async function summarise(store: Store, agentId: string): Promise<SessionSummary | undefined> {
  const projection = new SessionProjection()
  let error: ErrorInfo | undefined
  let isEmpty = true
  try {
    for await (const record of store.read(agentId)) {
      checkVersion(agentId, record)
      projection.apply(record)
      isEmpty = false
    }
  } catch (thrown) {
    error = toErrorInfo(thrown, 'STORE_READ_FAILED')
  }
  if (isEmpty && error === undefined) return undefined
  // By the name it is found under, whatever its records say.
  return { ...summaryOf(projection.session), id: agentId, ...(error === undefined ? {} : { error }) }
}

function groupIds(
  summaries: readonly SessionSummary[],
  by: (summary: SessionSummary) => string | undefined,
): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  for (const summary of summaries) {
    const key = by(summary)
    if (key !== undefined) groups.set(key, [...(groups.get(key) ?? []), summary.id])
  }
  return groups
}
