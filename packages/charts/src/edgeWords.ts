import type { ChartEdge } from './chartModel.ts'

const ends: Readonly<Record<string, string>> = { done: 'done', error: 'failed' }

/** Describes an event: `reply done`, `after 100 ms`. Empty for `always`. */
export function eventWords({ event, kind }: Pick<ChartEdge, 'event' | 'kind'>): string {
  if (kind === 'after') return `after ${/^xstate\.after\.([^.]+)/.exec(event)?.[1] ?? '?'} ms`
  const actor = /^xstate\.(?:done|error)\.(?:actor|state)\.(.+)$/.exec(event)?.[1]
  if (actor === undefined) return event
  return actor === '*' ? `any actor ${ends[kind]}` : `${actor.replace(/\.\*$/, '')} ${ends[kind]}`
}

/** Writes a transition with its names: `reply done [replied]`. */
export const edgeNames = (edge: ChartEdge): string =>
  [eventWords(edge), ...edge.guards.map((guard) => `[${guard}]`)].filter(Boolean).join(' ')

/** Describes the condition of a transition in a few words: the machine's description, or else its names. */
export const edgeWords = (edge: ChartEdge): string => edge.description ?? (eventWords(edge) || edgeNames(edge))
