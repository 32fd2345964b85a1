import type { WorkerEntry } from '../../../wire/src/frames.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'

/** Returns the name of a worker, made from its address: `worker-1.internal:4100`, and behind a proxy with its path. */
export function workerName(url: string): string {
  // A directory of the application's own may say anything.
  if (!URL.canParse(url)) return url
  const { host, pathname } = new URL(url)
  return `${host}${pathname.replace(/\/(?:bridge)?$/, '')}`
}

/** Maximum length of a worker's description of itself that is passed on, in characters. */
const mostWords = 1_000

/** Resolves with the entries of the workers at these addresses. Rejects as the store does. */
export async function workerEntries(urls: readonly string[], store: Store): Promise<WorkerEntry[]> {
  const known = new Map(((await store.workers?.()) ?? []).map(({ url, words }) => [url, words]))
  return urls.map((url) => {
    const words = known.get(url)
    return { name: workerName(url), ...(typeof words === 'string' ? { words: words.slice(0, mostWords) } : {}) }
  })
}
