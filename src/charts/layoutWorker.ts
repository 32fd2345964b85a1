import { parentPort, workerData } from 'node:worker_threads'
import Elk from 'elkjs/lib/elk.bundled.js'
import { messageOf } from '../protocol/errors.ts'
import type { ElkGraph } from './chartLayout.ts'

/** What a layout worker answers, once. */
export type LayoutAnswer =
  | { readonly ok: true; readonly graph: ElkGraph }
  | { readonly ok: false; readonly message: string }

interface Layouter {
  layout(graph: unknown): Promise<unknown>
}

/** Its types name a `default` that the module itself is, too. */
const ElkClass = Elk as unknown as new () => Layouter

/** Lays the graph out that it was started with: it takes a good part of a second, which no agent must wait for. */
async function answer(): Promise<LayoutAnswer> {
  try {
    return { ok: true, graph: (await new ElkClass().layout(workerData)) as ElkGraph }
  } catch (thrown) {
    return { ok: false, message: messageOf(thrown) }
  }
}

parentPort?.postMessage(await answer())
