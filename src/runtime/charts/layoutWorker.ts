import { parentPort, workerData } from 'node:worker_threads'
import type { ElkGraph } from './chartLayout.ts'
import { messageOf } from '../../protocol/errors.ts'

/** What a layout worker answers, once. */
export type LayoutAnswer =
  | { readonly ok: true; readonly graph: ElkGraph }
  | { readonly ok: false; readonly message: string }

interface Layouter {
  layout(graph: unknown): Promise<unknown>
}

/** Lays the graph out that it was started with: it takes a good part of a second, which no agent must wait for. */
async function answer(): Promise<LayoutAnswer> {
  try {
    // Its types name a `default` that the module itself is, too.
    const { default: elk } = (await import('elkjs')) as unknown as { default: new () => Layouter }
    return { ok: true, graph: (await new elk().layout(workerData)) as ElkGraph }
  } catch (thrown) {
    return { ok: false, message: messageOf(thrown) }
  }
}

parentPort?.postMessage(await answer())
