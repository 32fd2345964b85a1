import { Worker } from 'node:worker_threads'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { codeFile } from './packageFile.ts'
import type { ElkGraph } from './chartLayout.ts'
import type { LayoutAnswer, LayoutTask } from './layoutWorker.ts'

const workerPath = 'charts/layoutWorker.js'
/** Path of ELK's worker in the package. The page and the threads of Node share this file. */
const elkPath = 'inspector/assets/layoutWorker.js'

const missing = (): RuntimeError =>
  new RuntimeError(
    'FILE_MISSING',
    `An SVG of a chart is laid out by dist/${workerPath} and dist/${elkPath}, one of which is not there.`,
  )

/**
 * Lays out a graph with ELK, in a thread that ends with the layout.
 *
 * @throws RuntimeError `FILE_MISSING` if the worker's file is missing, `INTERNAL` if the layout fails; the reason of
 * `signal` if that aborts.
 */
export async function layoutInWorker(
  graph: ElkGraph,
  signal?: AbortSignal,
  workerFile = codeFile(workerPath, 'packages/charts/src/layoutWorker.ts'),
  elkFile = codeFile(elkPath, 'packages/page/src/inspector/worker/layoutWorker.ts'),
): Promise<ElkGraph> {
  signal?.throwIfAborted()
  if (workerFile === undefined || elkFile === undefined) throw missing()
  const { promise, resolve, reject } = Promise.withResolvers<ElkGraph>()
  const workerData: LayoutTask = { graph, elk: elkFile.href }
  const worker = new Worker(workerFile, { workerData })
  const failed = (what: string): RuntimeError => new RuntimeError('INTERNAL', `The chart was not laid out: ${what}.`)
  const onAbort = (): void => reject(signal!.reason as Error)
  worker.once('message', (answer: LayoutAnswer) => (answer.ok ? resolve(answer.graph) : reject(failed(answer.message))))
  worker.once('error', (error: NodeJS.ErrnoException) =>
    reject(error.code?.endsWith('MODULE_NOT_FOUND') === true ? missing() : failed(error.message)),
  )
  worker.once('exit', (code) => reject(failed(`its thread ended with code ${code}`)))
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    return await promise
  } finally {
    signal?.removeEventListener('abort', onAbort)
    await worker.terminate()
  }
}
