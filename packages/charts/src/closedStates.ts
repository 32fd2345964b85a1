import type { ChartModel, ChartNode } from './chartModel.ts'

/** A state that holds others. */
export interface HoldingState {
  readonly id: string
  readonly label: string
  /** Number of states inside it, at any depth. */
  readonly holds: number
}

/** Number of inner states above which a state is closed at first. */
const mostOpen = 6

const isState = ({ kind }: ChartNode): boolean => kind !== 'initial' && kind !== 'history'

/** Returns the states of a chart that hold others, without the whole machine. Pure. */
export const holdingStates = ({ nodes }: ChartModel): HoldingState[] =>
  nodes
    .filter(({ kind, parent }) => parent !== undefined && (kind === 'compound' || kind === 'parallel'))
    .map(({ id, label }) => ({
      id,
      label,
      holds: nodes.filter((node) => isState(node) && node.id.startsWith(`${id}.`)).length,
    }))

/** Returns the ids of the states that hold many others, which are closed until a person opens them. Pure. */
export const closedAtFirst = (model: ChartModel): string[] =>
  holdingStates(model)
    .filter(({ holds }) => holds > mostOpen)
    .map(({ id }) => id)

/** Returns the innermost state of a chart that is, or is around, the given state. Pure. */
export function seenState(id: string, { nodes }: ChartModel): string {
  let seen = id
  while (seen.includes('.') && !nodes.some((node) => node.id === seen)) seen = seen.slice(0, seen.lastIndexOf('.'))
  return seen
}

/** Returns the outermost closed state around a state, or the state itself. */
const outermost = (id: string, closed: readonly string[]): string =>
  closed
    .filter((outer) => id === outer || id.startsWith(`${outer}.`))
    .reduce((most, outer) => (outer.length < most.length ? outer : most), id)

/**
 * Returns the chart with some states closed. Their inner states are left out, and transitions into or out of these
 * lead to or from the closed state. Ids of states without inner states are ignored. Pure.
 */
export function withClosed(model: ChartModel, ids: readonly string[]): ChartModel {
  const holding = new Set(holdingStates(model).map(({ id }) => id))
  const closed = ids.filter((id) => holding.has(id))
  if (closed.length === 0) return model
  const parents = new Map(model.nodes.map(({ id, parent }) => [id, parent]))
  const isStart = (id: string): boolean => id.startsWith('(initial) ')
  const seen = (id: string): string => {
    const place = isStart(id) ? (parents.get(id) ?? id) : id
    const outer = outermost(place, closed)
    return closed.includes(outer) ? outer : id
  }
  return {
    ...model,
    nodes: model.nodes
      .filter(({ id }) => seen(id) === id)
      .map((node) => (closed.includes(node.id) ? { ...node, kind: 'atomic' } : node)),
    edges: model.edges.flatMap((edge) => {
      const [from, to] = [seen(edge.from), seen(edge.to)]
      const isInside = from === to && closed.includes(from) && edge.from !== from
      return isInside ? [] : [{ ...edge, from, to }]
    }),
    actors: model.actors.map((actor) => ({ ...actor, state: seen(actor.state) })),
    active: [...new Set(model.active.map(seen))],
  }
}
