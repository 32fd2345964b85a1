import type { Hit, HitKind } from './logSearch.ts'

/** A line of the list of matches: an agent with the number of its matches, or matches of one agent that read the same. */
export type HitRow =
  | { readonly type: 'agent'; readonly agentId: string; readonly count: number }
  | { readonly type: 'hits'; readonly hits: readonly Hit[] }

/** Kinds of matches that can be shown alone, in their order. `errors` are of any kind. */
export const hitFilters = ['said', 'thought', 'asked', 'answered', 'other', 'errors'] as const
export type HitFilter = (typeof hitFilters)[number]

const fits = ({ kind, isError }: Hit, filter: HitFilter | null): boolean =>
  filter === null || (filter === 'errors' ? isError : kind === (filter satisfies HitKind))

/** Returns the number of matches by filter. Pure. */
export function hitCounts(hits: readonly Hit[]): ReadonlyMap<HitFilter, number> {
  const counts = new Map<HitFilter, number>()
  for (const filter of hitFilters) {
    const count = hits.filter((hit) => fits(hit, filter)).length
    if (count > 0) counts.set(filter, count)
  }
  return counts
}

/** Returns the matches in the order of their agents. Matches of one agent that read the same are one row, at the first of them. Pure. */
export function hitRows(hits: readonly Hit[], filter: HitFilter | null): readonly HitRow[] {
  const byAgent = new Map<string, Map<string, Hit[]>>()
  for (const hit of hits) {
    if (!fits(hit, filter)) continue
    const found = byAgent.get(hit.agentId) ?? new Map<string, Hit[]>()
    byAgent.set(hit.agentId, found)
    const key = `${hit.who}\n${hit.excerpt}`
    const known = found.get(key)
    if (known === undefined) found.set(key, [hit])
    else known.push(hit)
  }
  return [...byAgent].flatMap(([agentId, found]): HitRow[] => {
    const rows = [...found.values()]
    const count = rows.reduce((sum, { length }) => sum + length, 0)
    return [{ type: 'agent', agentId, count }, ...rows.map((same): HitRow => ({ type: 'hits', hits: same }))]
  })
}

/** A part of a text. A marked part is a match. */
export interface MarkedPart {
  readonly text: string
  readonly isMarked: boolean
}

/** Returns the parts of a text, with each place of `wanted`, in lower case, marked. Pure. */
export function markedParts(text: string, wanted: string): readonly MarkedPart[] {
  const parts: MarkedPart[] = []
  const lower = text.toLowerCase()
  // Lower case may be longer, as of "İ": then places are not the same.
  if (wanted === '' || lower.length !== text.length) return [{ text, isMarked: false }]
  let from = 0
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, from)) {
    if (at > from) parts.push({ text: text.slice(from, at), isMarked: false })
    from = at + wanted.length
    parts.push({ text: text.slice(at, from), isMarked: true })
  }
  return from < text.length ? [...parts, { text: text.slice(from), isMarked: false }] : parts
}
