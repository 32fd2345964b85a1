import type { CacheName } from './measure/cacheMeter.ts'
import { type Measures, measureReplay } from './measure/measureReplay.ts'
import { costOf, prices } from './measure/prices.ts'
import { BlockTable } from './measure/requestBlocks.ts'
import { bothScripts, type Policy } from './policies/policy.ts'
import { recallMisses } from './policies/recallMisses.ts'
import type { RecordedSession } from './recordedSession.ts'
import { replay, type Replay } from './replay.ts'

/** A policy's figures; those with an X are relative to the same session with nothing hidden. */
export interface Row {
  readonly policy: string
  readonly about: string
  readonly measures: Measures
  readonly peakX: number
  /** Cost relative to the baseline, including requests of policies and strategies to a model. */
  readonly costX: number
  /** Share of the cost for those requests to a model. */
  readonly askedShare: number
  /** `costX` by the prices of each provider in the table. */
  readonly costs: Readonly<Record<string, number>>
  /** Figures of another replay, in which the model paid for a recall before every reply that missed something; `null` if recall is not offered. */
  readonly recalls: { readonly asked: number; readonly costX: number; readonly danglingPercent: number } | null
}

export const danglingPercent = ({ dangling, met }: Measures): number => (100 * dangling) / Math.max(1, met)

const none: Policy = { name: 'none', about: '', shape: { compaction: false } }

/** Replays a session with each policy, one after the other. `priceName`: the prices that `costX` is by. `cache`: of the provider. */
export async function compare(
  session: RecordedSession,
  policies: readonly Policy[],
  priceName: string,
  cache: CacheName = 'ideal',
): Promise<Row[]> {
  const table = new BlockTable()
  const unmanaged = await replay(session, none.shape)
  const base = measureReplay(session, unmanaged, table, cache)
  const costX = (measures: Measures, name = priceName): number =>
    (costOf(measures, prices[name]!) + costOf(measures.asked, prices[name]!)) / costOf(base, prices[name]!)
  const rows: Row[] = []
  for (const policy of policies) {
    const { played, replayed } = await replayWith(session, policy, unmanaged, cache)
    const measures = measureReplay(played, replayed, table, cache)
    const row = {
      policy: policy.name,
      about: policy.about,
      measures,
      peakX: measures.peak / base.peak,
      costX: costX(measures),
      askedShare: costOf(measures.asked, prices[priceName]!) / costOf(base, prices[priceName]!) / costX(measures),
      costs: Object.fromEntries(Object.keys(prices).map((name) => [name, costX(measures, name)])),
    }
    if (!hasRecall(replayed)) rows.push({ ...row, recalls: null })
    else {
      const script = bothScripts(policy.script?.(played) ?? {}, recallMisses(played))
      const paid = measureReplay(played, await replay(played, policy.shape, script, { cache }), table, cache)
      const recalls = {
        asked: paid.ownReplies - measures.ownReplies,
        costX: costX(paid),
        danglingPercent: danglingPercent(paid),
      }
      rows.push({ ...row, recalls })
    }
  }
  return rows
}

const hasRecall = ({ requests }: Replay): boolean =>
  requests[0]?.request.tools.some(({ name }) => name === 'recall') ?? false

/** The session that a policy makes of a session, and its replay. `unmanaged`: the replay with nothing hidden. */
export async function replayWith(
  session: RecordedSession,
  { name, shape, reshape, simulate, script }: Policy,
  unmanaged: Replay,
  cache: CacheName,
): Promise<{ readonly played: RecordedSession; readonly replayed: Replay }> {
  if (name === none.name) return { played: session, replayed: unmanaged }
  if (simulate !== undefined)
    return { played: session, replayed: { ...unmanaged, requests: simulate(unmanaged.requests) } }
  const played = reshape?.(session) ?? session
  return { played, replayed: await replay(played, shape, script?.(played), { cache }) }
}
