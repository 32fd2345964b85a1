import { parentPort, workerData } from 'node:worker_threads'
import Elk from 'elkjs/lib/elk-api.js'
import { messageOf } from '../../../src/protocol/errors.ts'
import type { ElkGraph } from './chartLayout.ts'

/** The task that a layout worker is started with. */
export interface LayoutTask {
  readonly graph: ElkGraph
  /** Address of ELK, as a worker of a page loads it. */
  readonly elk: string
}

/** Answer of a layout worker: its only message. */
export type LayoutAnswer =
  | { readonly ok: true; readonly graph: ElkGraph }
  | { readonly ok: false; readonly message: string }

interface Layouter {
  layout(graph: unknown): Promise<unknown>
}

/** One end of the channel to ELK, like the one between a page and its worker. */
interface Port {
  postMessage(data: unknown): void
  onmessage?: (event: { readonly data: unknown }) => void
}

/** The constructor of ELK: its types name a `default`, which is the module itself at run time. */
const ElkClass = Elk as unknown as new (options: { workerFactory: () => Port }) => Layouter

/** Loads ELK, which treats a global `self` as its worker, and returns the page's end of the channel to that worker. */
async function portOf(elk: string): Promise<Port> {
  const port: Port = { postMessage: (data) => self.onmessage?.({ data }) }
  const self: Port = { postMessage: (data) => port.onmessage?.({ data }) }
  Object.defineProperty(globalThis, 'self', { value: self, configurable: true })
  await import(elk)
  return port
}

/** Lays out the worker's graph. This takes a good part of a second, which must not block the agents. */
async function answer({ graph, elk }: LayoutTask): Promise<LayoutAnswer> {
  const port = await portOf(elk)
  try {
    return { ok: true, graph: (await new ElkClass({ workerFactory: () => port }).layout(graph)) as ElkGraph }
  } catch (thrown) {
    return { ok: false, message: messageOf(thrown) }
  }
}

parentPort?.postMessage(await answer(workerData as LayoutTask))
