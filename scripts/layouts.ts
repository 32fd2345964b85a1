import { agentMachine } from '../src/machines/agentMachine.ts'
import { chart } from '../packages/charts/src/chart.ts'
import { chartDrawing } from '../packages/charts/src/chartDrawing.ts'
import { toElk, type ElkGraph } from '../packages/charts/src/chartLayout.ts'
import { hubExits } from '../packages/charts/src/hubExits.ts'
import { layoutInWorker } from '../packages/charts/src/layoutInWorker.ts'
import { layoutKey } from '../packages/charts/src/layoutCache.ts'
import { defineAgent } from '../src/actors/define/defineAgent.ts'
import { policyModel } from '../packages/models/src/policyModel.ts'

/** The full charts of an agent with and without sub-agents, laid out, by the key under which they are looked for. */
export async function agentLayouts(): Promise<Readonly<Record<string, ElkGraph>>> {
  const subjects = [agentMachine, defineAgent({ name: 'alone', model: policyModel(() => '') })]
  const laidOut = subjects.map(async (subject): Promise<[string, ElkGraph]> => {
    const graph = toElk(hubExits(chartDrawing({ ...chart(subject, { format: 'json' }), active: [] })), 'down')
    return [layoutKey(graph), placesOf(await layoutInWorker(graph))]
  })
  return Object.fromEntries(await Promise.all(laidOut))
}

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
