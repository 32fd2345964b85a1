import { replayWith } from './compare.ts'
import { longSessions, shortSessions } from './generate/generateSession.ts'
import { type LongKind, longKinds, type SeedSet } from './generate/kinds.ts'
import type { CacheName } from './measure/cacheMeter.ts'
import { type Measures, measureReplay } from './measure/measureReplay.ts'
import { costOf, type PriceRatios } from './measure/prices.ts'
import { BlockTable } from './measure/requestBlocks.ts'
import { type FoldOptions, policiesFor } from './policies/policies.ts'
import type { Policy } from './policies/policy.ts'
import { type RecordedSession, stepsOf } from './recordedSession.ts'
import { replay } from './replay.ts'

/** One session with a policy, and without: what both cost. */
export interface Sample {
  readonly session: string
  readonly requests: number
  readonly cost: number
  readonly unmanaged: number
  readonly measures: Pick<Measures, 'met' | 'dangling' | 'indexOnly' | 'breaks' | 'invalid' | 'usersLost' | 'failure'>
}

/** The sessions of one row, by policy. `fold` and the others have the cache that was asked for, `foldUncached` and `foldOnDemandUncached` none, `foldIdeal` one that never forgets. */
export interface KindRow {
  readonly kind: string
  readonly about: string
  readonly samples: Readonly<Record<ArmName, readonly Sample[]>>
}

export type ArmName = 'fold' | 'foldOnDemand' | 'onDemand' | 'foldUncached' | 'foldOnDemandUncached' | 'foldIdeal'

export interface ByKind {
  readonly long: readonly KindRow[]
  readonly recorded: readonly KindRow[]
  readonly short: readonly Sample[]
}

export interface ByKindOptions {
  readonly seeds: SeedSet
  /** Sessions of each kind of 50 requests and more, and runs of fewer than 30 of all kinds. */
  readonly sessions: number
  readonly runs: number
  readonly cache: CacheName
  /** Tokens of the provider in four characters. */
  readonly unit: number
  readonly prices: PriceRatios
  readonly fold: FoldOptions
  /** Recorded sessions, each a row. */
  readonly recordings: readonly RecordedSession[]
}

/** Replays sessions in the likeness of each kind, and recorded ones, with and without folding. */
export async function byKind(options: ByKindOptions): Promise<ByKind> {
  const { seeds, recordings, unit } = options
  const counted = (session: RecordedSession): RecordedSession => ({ ...session, unit })
  const long: KindRow[] = []
  for (const [kind, { about }] of Object.entries(longKinds)) {
    const sessions = longSessions(kind as LongKind, seeds, options.sessions).map(counted)
    long.push({ kind, about, samples: await sampled(sessions, allArms(options), options) })
  }
  const recorded: KindRow[] = []
  for (const session of recordings) {
    const { name: kind, format: about } = session
    recorded.push({ kind, about, samples: await sampled([session], allArms(options), options) })
  }
  const runs = shortSessions(seeds, options.runs).map(counted)
  const { fold: short } = await sampled(runs, [allArms(options)[0]!], options)
  return { long, recorded, short }
}

interface Arm {
  readonly name: ArmName
  readonly policy: Policy
  readonly cache: CacheName
}

/** Tokens at which the last resort would begin: none of the arms has it. */
const noCompaction = 1_000_000

function allArms({ cache, fold }: ByKindOptions): readonly Arm[] {
  const policy = (name: string): Policy => policiesFor(noCompaction, fold).find((found) => found.name === name)!
  return [
    { name: 'fold', policy: policy('fold'), cache },
    { name: 'foldOnDemand', policy: policy('fold-on-demand'), cache },
    { name: 'onDemand', policy: policy('on-demand'), cache },
    { name: 'foldUncached', policy: policy('fold'), cache: 'none' },
    { name: 'foldOnDemandUncached', policy: policy('fold-on-demand'), cache: 'none' },
    { name: 'foldIdeal', policy: policy('fold'), cache: 'ideal' },
  ]
}

async function sampled(
  sessions: readonly RecordedSession[],
  arms: readonly Arm[],
  { prices }: ByKindOptions,
): Promise<Record<ArmName, Sample[]>> {
  const samples: Record<ArmName, Sample[]> = {
    fold: [],
    foldOnDemand: [],
    onDemand: [],
    foldUncached: [],
    foldOnDemandUncached: [],
    foldIdeal: [],
  }
  for (const session of sessions) {
    const table = new BlockTable()
    const unmanaged = await replay(session)
    const costs = new Map<CacheName, number>()
    const costWith = (cache: CacheName): number => {
      let cost = costs.get(cache)
      if (cost === undefined) costs.set(cache, (cost = costOf(measureReplay(session, unmanaged, table, cache), prices)))
      return cost
    }
    for (const { name, policy, cache } of arms) {
      const { played, replayed } = await replayWith(session, policy, unmanaged, cache)
      const measures = measureReplay(played, replayed, table, cache)
      samples[name].push({
        session: session.name,
        requests: stepsOf(session).length,
        cost: costOf(measures, prices),
        unmanaged: costWith(cache),
        measures,
      })
    }
  }
  return samples
}
