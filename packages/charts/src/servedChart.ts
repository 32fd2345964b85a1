import { agentMachineId } from '../../../src/machines/agentSetup.ts'
import { chartDrawing } from './chartDrawing.ts'
import type { ChartLayout } from './chartLayout.ts'
import type { ChartModel } from './chartModel.ts'
import { withClosed } from './closedStates.ts'
import { hubExits } from './hubExits.ts'
import { layoutOf } from './layoutCache.ts'
import { overviewLayout, withTitle } from './overviewLayout.ts'
import { overviewModel } from './overviewModel.ts'

/** A chart as a server sends it to a page: the model, with the requested states closed, and its laid-out pictures without active states. */
export interface ServedChart extends ChartModel {
  readonly overview?: ChartLayout
  /** Layout of the full picture, if it was requested. */
  readonly full?: ChartLayout
}

/** The parts of a chart that a page requests. */
export interface LayoutAsked {
  readonly withFull?: boolean
  /** Ids of the states that are closed in the full picture. */
  readonly closed?: readonly string[]
}

/** Reads the request from the query of a URL: `layout=full&closed=draining,replying`. Pure. */
export const layoutAsked = (query: URLSearchParams): LayoutAsked => ({
  withFull: query.get('layout') === 'full',
  closed: query.get('closed')?.split(',') ?? [],
})

/** Overviews by their content without the titles: agents of one machine with the same brakes share one. */
const overviews = new Map<string, ChartLayout>()
const mostOverviews = 64

function overviewOf(model: ChartModel): ChartLayout {
  const { title, ...shown } = overviewModel(model)
  const key = JSON.stringify(shown)
  const known = overviews.get(key) ?? overviewLayout({ ...shown, title })
  overviews.delete(key)
  overviews.set(key, known)
  if (overviews.size > mostOverviews) overviews.delete(overviews.keys().next().value!)
  return withTitle(known, model)
}

/**
 * Returns the chart with its overview laid out, which takes no time, and, if requested, the full picture, which may
 * take another thread a second the first time. Rejects with the reason of `signal`, and as `chart` does for an SVG.
 */
export async function servedChart(
  model: ChartModel,
  { withFull = false, closed = [], signal }: LayoutAsked & { readonly signal?: AbortSignal } = {},
): Promise<ServedChart> {
  const still = { ...model, active: [] }
  const overview = model.id === agentMachineId && model.detail === undefined ? { overview: overviewOf(still) } : {}
  if (!withFull) return { ...model, ...overview }
  const full = await layoutOf(hubExits(chartDrawing(withClosed(still, closed))), 'down', { signal })
  return { ...withClosed(model, closed), ...overview, full }
}
