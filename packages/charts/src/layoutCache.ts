import { createHash } from 'node:crypto'
import type { ChartDirection } from './chartMermaid.ts'
import type { ChartDrawing } from './chartDrawing.ts'
import { fromElk, toElk, type ChartLayout, type ElkGraph } from './chartLayout.ts'
import { layoutInWorker } from './layoutInWorker.ts'

/** A layout that is finished or being computed. */
interface Known {
  readonly graph: Promise<ElkGraph>
  /** Stops the worker that computes the layout. */
  readonly stop: (reason: unknown) => void
  waiting: number
}

/** Layouts by the key of their graph, the most recently used last. */
const known = new Map<string, Known>()
/** Maximum number of layouts that are kept. */
export const mostKnown = 16

/** Returns the key of a graph's layout: the same for agents of any name, in any state and with any brakes. */
export const layoutKey = (graph: ElkGraph): string =>
  createHash('sha256').update(JSON.stringify(graph)).digest('base64url')

type LayOut = (graph: ElkGraph, signal: AbortSignal) => Promise<ElkGraph>

function begin(graph: ElkGraph, key: string, layOut: LayOut): Known {
  const ending = new AbortController()
  const make = async (): Promise<ElkGraph> => {
    // Some tens of kilobytes, which only who draws loads.
    const { builtLayouts } = await import('./builtLayouts.ts')
    return builtLayouts[key] ?? (await layOut(graph, ending.signal))
  }
  const made: Known = { graph: make(), stop: (reason) => ending.abort(reason), waiting: 0 }
  made.graph.catch(() => forget(key, made))
  return made
}

function forget(key: string, entry: Known): void {
  if (known.get(key) === entry) known.delete(key)
}

/**
 * Lays out a drawing: at once if this process or the build did so before, otherwise in a worker. Callers that want the same layout share one worker,
 * which ends when `signal` has aborted for all of them. Rejects as `layoutInWorker` does.
 */
export async function layoutOf(
  drawing: ChartDrawing,
  direction: ChartDirection,
  { signal, layOut = layoutInWorker }: { readonly signal?: AbortSignal | undefined; readonly layOut?: LayOut } = {},
): Promise<ChartLayout> {
  signal?.throwIfAborted()
  const graph = toElk(drawing, direction)
  const key = layoutKey(graph)
  const entry = known.get(key) ?? begin(graph, key, layOut)
  known.delete(key)
  known.set(key, entry)
  if (known.size > mostKnown) known.delete(known.keys().next().value!)
  entry.waiting += 1
  try {
    return fromElk(await unlessAborted(entry.graph, signal), drawing)
  } finally {
    entry.waiting -= 1
    if (entry.waiting === 0 && signal?.aborted === true) {
      forget(key, entry)
      entry.stop(signal.reason)
    }
  }
}

async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await promise
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(signal.reason as Error)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    const value = await Promise.race([promise, aborted])
    signal.throwIfAborted()
    return value
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
