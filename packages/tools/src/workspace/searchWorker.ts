import { on } from 'node:events'
import { parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '../../../../src/protocol/errors.ts'
import { filesIn, searchIn } from './searchIn.ts'
import type { SearchedFile, SearchMessage, SearchRequest } from './searchIn.ts'

// The worker thread's entry: started by searchFiles, which terminates it if an expression takes too long.
const request: SearchRequest = workerData
const post = (message: SearchMessage): void => parentPort?.postMessage(message)

/** Yields the files that are sent, one for each message `next`; `null` ends them. */
async function* sentFiles(): AsyncGenerator<SearchedFile, void, undefined> {
  if (parentPort === null) return
  const messages = on(parentPort, 'message') as AsyncIterableIterator<readonly [SearchedFile | null]>
  post({ type: 'next' })
  for await (const [file] of messages) {
    if (file === null) return
    yield file
    post({ type: 'next' })
  }
}

try {
  const files = request.folder === undefined ? sentFiles() : filesIn(request.folder, request)
  for await (const message of searchIn(request, files)) post(message)
} catch (thrown) {
  post({ type: 'failed', message: messageOf(thrown) })
}
