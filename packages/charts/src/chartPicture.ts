import { agentMachineId } from '../../../src/machines/agentSetup.ts'
import { chartDrawing } from './chartDrawing.ts'
import type { ChartDirection } from './chartMermaid.ts'
import type { ChartModel } from './chartModel.ts'
import { chartSvg } from './chartSvg.ts'
import { hubExits } from './hubExits.ts'
import { layoutOf } from './layoutCache.ts'
import { overviewLayout } from './overviewLayout.ts'

/** Draws the SVG of a chart. Rejects with the reason of `signal`. */
export async function chartPicture(
  model: ChartModel,
  direction: ChartDirection,
  signal: AbortSignal | undefined,
): Promise<string> {
  signal?.throwIfAborted()
  if (model.detail === 'overview' && model.id === agentMachineId)
    return chartSvg(overviewLayout(model), { legend: 'overview' })
  const drawing = hubExits(chartDrawing(model))
  return chartSvg(await layoutOf(drawing, direction, { signal }), { legend: 'full' })
}
