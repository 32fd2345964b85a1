import Elk from 'elkjs/lib/elk-api.js'
import { chartDrawing, type ChartDrawing } from '../../../../charts/src/chartDrawing.ts'
import type { ChartModel } from '../../../../charts/src/chartModel.ts'
import { hubExits } from '../../../../charts/src/hubExits.ts'
import { fromElk, toElk, type ChartLayout, type ElkGraph } from '../../../../charts/src/chartLayout.ts'

interface Layouter {
  layout(graph: unknown): Promise<unknown>
}

/** The constructor of ELK: its types name a `default`, which is the module itself at run time. */
const ElkClass = Elk as unknown as new (options: { workerFactory: () => Worker }) => Layouter

let layouter: Layouter | undefined

/** Charts that were laid out, the one requested last at the end. */
const known = new Map<string, Promise<ChartLayout>>()
const mostKnown = 8

/** Lays out a whole chart, in a worker that the page keeps. Active states make no difference. Rejects if ELK does. */
export function layoutChart(model: ChartModel): Promise<ChartLayout> {
  const drawing = hubExits(chartDrawing(model))
  const nodes = drawing.nodes.map(({ active: _, ...node }) => node)
  const plain: ChartDrawing = { ...drawing, nodes }
  const key = JSON.stringify(plain)
  const before = known.get(key)
  known.delete(key)
  const layout = before ?? placed(plain)
  known.set(key, layout)
  layout.catch(() => known.delete(key))
  if (known.size > mostKnown) known.delete(known.keys().next().value!)
  return layout
}

async function placed(drawing: ChartDrawing): Promise<ChartLayout> {
  layouter ??= new ElkClass({
    workerFactory: () => new Worker(new URL('./layoutWorker.ts', import.meta.url), { type: 'module', name: 'layout' }),
  })
  return fromElk((await layouter.layout(toElk(drawing))) as ElkGraph, drawing)
}
