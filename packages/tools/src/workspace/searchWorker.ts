import { parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '../../../../src/protocol/errors.ts'
import { searchIn } from './searchIn.ts'
import type { SearchMessage, SearchRequest } from './searchIn.ts'

// The worker thread's entry: started by searchFiles, which terminates it if an expression takes too long.
const request: SearchRequest = workerData
const post = (message: SearchMessage): void => parentPort?.postMessage(message)

try {
  for await (const message of searchIn(request)) post(message)
} catch (thrown) {
  post({ type: 'failed', message: messageOf(thrown) })
}
