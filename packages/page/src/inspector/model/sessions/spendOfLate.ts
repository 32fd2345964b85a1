import type { Client, RemoteSpend } from '../../../../../bridge/src/client/index.ts'
import type { AgentSummary } from '../../../../../wire/src/frames.ts'
import type { SpendBy, SpendSaved } from '../../../../../wire/src/spend.ts'

/** US dollars per minute, by the root of each tree. */
export type Rates = ReadonlyMap<string, number>

/** Length of a slice of the server's sums, in milliseconds, and the number of slices in the last hour. */
export const sliceMs = 300_000
const slices = 12

/** Spending of the last hour in groups, and of the last minutes by tree. */
export interface SpendOfLate {
  readonly hour: RemoteSpend
  /** Beginning of the hour, in epoch milliseconds. */
  readonly since: number
  readonly rates: Rates
  /** US dollars per minute of all agents. */
  readonly rate: number
}

/** Asks a server for recent spending. Rejects as `client.spend` does. */
export async function spendOfLate(client: Client, by: SpendBy, now: number): Promise<SpendOfLate> {
  const thisSlice = Math.floor(now / sliceMs) * sliceMs
  const since = thisSlice - (slices - 1) * sliceMs
  // Of a slice that has just begun nothing can be told.
  const recent = thisSlice - sliceMs
  const [hour, late] = await Promise.all([
    client.spend({ by, since, every: sliceMs, limit: 20 }),
    client.spend({ since: recent, limit: 100 }),
  ])
  const minutes = Math.max(1, (now - recent) / 60_000)
  const rates = new Map(late.groups.map(({ key, costUsd }) => [key ?? '', costUsd / minutes]))
  return { hour, since, rates, rate: late.costUsd / minutes }
}

/** Asks a server for the savings of brakes in the logs of all agents; `undefined` if it does not tell. Rejects as `client.spend` does. */
export const savedInAll = async (client: Client): Promise<SpendSaved | undefined> =>
  (await client.spend({ limit: 1 })).saved

/** Maximum number of keys that are offered. */
const mostKeys = 12

/** Returns the keys of the agents' metadata, the most frequent first. Pure. */
export function metadataKeys(agents: Iterable<Pick<AgentSummary, 'metadata'>>): readonly string[] {
  const counts = new Map<string, number>()
  for (const { metadata } of agents)
    for (const key of Object.keys(metadata ?? {})) counts.set(key, (counts.get(key) ?? 0) + 1)
  return [...counts]
    .toSorted(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
    .slice(0, mostKeys)
    .map(([key]) => key)
}
