import { factsOf, ownPending, standingOf, standingWords, type Standing } from '../../../../../charts/src/standing.ts'
import type { AgentSummary } from '../../../../../wire/src/frames.ts'

/** Standing of an agent, with its words, waiting items and time. */
export interface Stands {
  readonly standing: Standing
  readonly words: string
  readonly keys: readonly string[]
  readonly since: number
}

/** Standings by summary. A changed summary is a new object, so that of ten thousand only a few are computed again. */
const stood = new WeakMap<AgentSummary, Stands>()

/** Returns the standing of a running agent and its words, computed once per summary. Pure. */
export function standsOf(agent: AgentSummary): Stands {
  const known = stood.get(agent)
  if (known !== undefined) return known
  const facts = factsOf(agent)
  const standing = standingOf(facts)
  const { busySince, activeAt = 0, last } = agent
  const since = standing === 'working' ? (busySince ?? activeAt) : standing === 'waiting' ? activeAt : (last?.at ?? 0)
  const keys = standing === 'waiting' ? ownPending(agent) : []
  const stands = { standing, words: standingWords(facts), keys, since: since === 0 ? activeAt : since }
  stood.set(agent, stands)
  return stands
}
