import type { Span } from './span.ts'

/** Maximum number of tools that are named; more are counted. */
const mostNamed = 5

/**
 * Describes a turn up to a position of the axis: the tools that it called, how often, and which failed, or else the
 * text that it said. `null`: up to now. Pure.
 */
export function turnWords({ inside }: Pick<Span, 'inside'>, until: number | null = null): string {
  const isThere = (at: number | null): boolean => until === null || (at !== null && at <= until)
  const calls = new Map<string, { count: number; hasFailed: boolean }>()
  for (const { kind, name, error, from, to } of inside) {
    if (kind !== 'call' || !isThere(from)) continue
    const known = calls.get(name) ?? { count: 0, hasFailed: false }
    const hasFailed = known.hasFailed || (error !== undefined && isThere(to))
    calls.set(name, { count: known.count + 1, hasFailed })
  }
  if (calls.size === 0) return inside.findLast(({ kind, to }) => kind === 'reply' && isThere(to))?.words ?? ''
  const words = [...calls].map(
    ([name, { count, hasFailed }]) => `${name}${count === 1 ? '' : ` ×${count}`}${hasFailed ? ' ✕' : ''}`,
  )
  return [...words.slice(0, mostNamed), ...(words.length > mostNamed ? [`${words.length - mostNamed} more`] : [])].join(
    ' · ',
  )
}
