import { agentMachine } from '../src/machines/agentMachine.ts'
import { chart } from '../packages/charts/src/chart.ts'
import { chartDrawing } from '../packages/charts/src/chartDrawing.ts'
import { toElk, type ElkGraph } from '../packages/charts/src/chartLayout.ts'
import { holdingStates, withClosed } from '../packages/charts/src/closedStates.ts'
import { hubExits } from '../packages/charts/src/hubExits.ts'
import { layoutInWorker } from '../packages/charts/src/layoutInWorker.ts'
import { layoutKey } from '../packages/charts/src/layoutCache.ts'
import { defineAgent } from '../src/actors/define/defineAgent.ts'
import { policyModel } from '../packages/models/src/policyModel.ts'

/** The full charts of an agent with and without sub-agents, with any of their states closed, laid out, by the key under which they are looked for. */
export async function agentLayouts(): Promise<Readonly<Record<string, ElkGraph>>> {
  const subjects = [agentMachine, defineAgent({ name: 'alone', model: policyModel(() => '') })]
  const models = subjects.map((subject) => ({ ...chart(subject, { format: 'json' }), active: [] }))
  const shown = models.flatMap((model) => choices(holdingStates(model)).map((closed) => withClosed(model, closed)))
  const laidOut = shown.map(async (model): Promise<[string, ElkGraph]> => {
    const graph = toElk(hubExits(chartDrawing(model)), 'down')
    return [layoutKey(graph), placesOf(await layoutInWorker(graph))]
  })
  return Object.fromEntries(await Promise.all(laidOut))
}

/** All choices of some of the states, none and all included. */
const choices = (states: readonly { readonly id: string }[]): string[][] =>
  states.reduce<string[][]>((some, { id }) => [...some, ...some.map((ids) => [...ids, id])], [[]])

/** Reduces a graph to its places and sizes. */
const placesOf = ({ id, x, y, width, height, children, edges }: ElkGraph): ElkGraph => ({
  id,
  ...(x === undefined ? {} : { x, y: y! }),
  ...(width === undefined ? {} : { width, height: height! }),
  ...(children === undefined ? {} : { children: children.map(placesOf) }),
  ...(edges === undefined
    ? {}
    : {
        edges: edges.map(({ sources, targets, sections = [], labels = [], id: way }) => ({
          id: way,
          sources,
          targets,
          sections: sections.map(({ startPoint, endPoint, bendPoints }) => ({
            startPoint,
            endPoint,
            ...(bendPoints === undefined ? {} : { bendPoints }),
          })),
          labels: labels.map((label) => ({ x: label.x!, y: label.y! })),
        })),
      }),
})
