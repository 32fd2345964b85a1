import type { ChartActor, ChartEdge, ChartModel } from './chartModel.ts'

/**
 * Returns a chart with its outermost states closed. Each transition from one of them to another is kept, under its
 * id. Transitions inside one are left out, except for brakes, which become internal transitions of the state. Pure.
 */
export function overviewModel(model: ChartModel): ChartModel {
  if (model.detail === 'overview') return model
  const { machines: _, active, nodes, edges, actors, ...rest } = model
  const parents = new Map(nodes.map(({ id, parent }) => [id, parent]))
  const outermost = (id: string): string => {
    const parent = parents.get(id)
    return parent === undefined || parent === model.id ? id : outermost(parent)
  }
  return {
    ...rest,
    detail: 'overview',
    nodes: nodes.filter(({ id, parent }) => id === model.id || parent === model.id),
    edges: edges.flatMap((edge) => foldEdge(edge, outermost(edge.from), outermost(edge.to))),
    actors: actors.map(({ machine: __, ...actor }): ChartActor => ({ ...actor, state: outermost(actor.state) })),
    machines: [],
    active: [...new Set(active.map(outermost))],
  }
}

function foldEdge(edge: ChartEdge, from: string, to: string): ChartEdge[] {
  if (edge.from === from && edge.to === to && edge.isInternal !== true) return [edge]
  if (from !== to) return edge.isInternal === true ? [] : [{ ...edge, from, to }]
  return edge.isBrake === true ? [{ ...edge, from, to, isInternal: true }] : []
}
