import type { PlacedArrow } from '../../../../../charts/src/chartLayout.ts'
import type { ChartModel } from '../../../../../charts/src/chartModel.ts'
import { transitionWords, type TransitionWords } from './chartWords.ts'

/** A state or an arrow of a chart that a person chose. */
export type ChartChoice =
  | { readonly type: 'state'; readonly id: string }
  | { readonly type: 'arrow'; readonly arrow: PlacedArrow }

/** A choice in words. */
export interface ChosenWords {
  readonly title: string
  readonly about?: string
  readonly runs: readonly string[]
  readonly transitions: readonly (TransitionWords & { readonly from: string })[]
}

/** Returns the outermost state that a state is in. Pure. */
export const outermost = (id: string): string => id.split('.', 1)[0]!

const nameOf = (id: string): string => (id.startsWith('(') ? id.replace(/^\((.*?)\) ?/, '$1 ').trim() : id)

/** Describes a choice; `undefined` if the chart does not have it, because it belongs to another machine. Pure. */
export function chosenWords({ nodes, edges, actors }: ChartModel, choice: ChartChoice): ChosenWords | undefined {
  if (choice.type === 'arrow') {
    const { from, to, edges: ids } = choice.arrow
    const meant = new Set(ids.map((id) => id.replace(/ join$/, '')))
    const own = edges.filter(({ id }) => meant.has(id))
    if (own.length === 0) return undefined
    const title = choice.arrow.role === 'bundle' ? 'any state → stops' : `${nameOf(from)} → ${nameOf(to)}`
    return { title, runs: [], transitions: own.map((edge) => ({ ...transitionWords(edge), from: edge.from })) }
  }
  const { id } = choice
  const node = nodes.find((other) => other.id === id)
  if (node === undefined || node.kind === 'initial') return undefined
  const isWithin = (other: string): boolean => other === id || other.startsWith(`${id}.`)
  const { description } = node
  return {
    title: id,
    ...(description === undefined ? {} : { about: description }),
    runs: [...new Set(actors.filter(({ state, kind }) => kind === 'invoked' && isWithin(state)).map(({ src }) => src))],
    transitions: edges
      .filter(
        ({ from, to, kind, isBrake }) => kind !== 'initial' && isWithin(from) && (!isWithin(to) || isBrake === true),
      )
      .map((edge) => ({ ...transitionWords(edge), from: edge.from })),
  }
}
