import { Worker } from 'node:worker_threads'
import { RuntimeError } from '../../protocol/errors.ts'
import type { ElkGraph } from './chartLayout.ts'
import type { LayoutAnswer } from './layoutWorker.ts'

/** From source the worker is TypeScript, in the package JavaScript. */
const workerFile = new URL(import.meta.url.endsWith('.ts') ? './layoutWorker.ts' : './layoutWorker.js', import.meta.url)

/**
 * Lays a graph out by ELK, in a thread of its own that ends with it.
 *
 * @throws RuntimeError `INTERNAL` when it could not; the reason of `signal` when that aborts.
 */
export async function layoutInWorker(graph: ElkGraph, signal?: AbortSignal): Promise<ElkGraph> {
  signal?.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<ElkGraph>()
  const worker = new Worker(workerFile, { workerData: graph })
  const failed = (what: string): RuntimeError => new RuntimeError('INTERNAL', `The chart was not laid out: ${what}.`)
  const onAbort = (): void => reject(signal!.reason as Error)
  worker.once('message', (answer: LayoutAnswer) => (answer.ok ? resolve(answer.graph) : reject(failed(answer.message))))
  worker.once('error', (error: Error) => reject(failed(error.message)))
  worker.once('exit', (code) => reject(failed(`its thread ended with code ${code}`)))
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    return await promise
  } finally {
    signal?.removeEventListener('abort', onAbort)
    await worker.terminate()
  }
}
