import {
  indexName,
  indexSchema,
  pagesVersion,
  receiver,
  type PageFile,
  type PageIndex,
} from '../sessionPages/sessionFile.ts'
import { placeOf } from './fileLogs.ts'
import { damaged, missing, tooNew } from './fileProblem.ts'

/** Returns the data in the page itself, by kind. */
const inPage = (kind: 'session' | 'sessions'): unknown[] =>
  [...document.querySelectorAll(`script[data-escapement="${kind}"]`)].map((element) => {
    try {
      return JSON.parse(element.textContent ?? '') as unknown
    } catch {
      return undefined
    }
  })

/**
 * Returns the index of the page's sessions: those in it, or those that `sessions.js` beside it named.
 *
 * @throws FileProblem `LOG_CORRUPT`, `LOG_VERSION`, `STORE_READ_FAILED`
 */
export function readIndex(): PageIndex {
  const [inside] = inPage('sessions')
  const given = inside ?? (globalThis as Record<string, unknown>)[indexName]
  const what = inside === undefined ? 'sessions.js' : 'The list of sessions in this page'
  const checked = indexSchema.safeParse(given)
  if (given === undefined) throw missing(what)
  if (!checked.success) throw damaged(what)
  if (checked.data.version > pagesVersion) throw tooNew(what)
  return given as PageIndex
}

/** The last load: sessions are loaded one at a time by scripts, which hand their data to a function of the page. */
let last: Promise<unknown> = Promise.resolve()

function byScript(file: PageFile): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const script = document.createElement('script')
  let given: unknown
  Object.assign(globalThis, { [receiver]: (value: unknown) => (given = value) })
  script.src = `sessions/${encodeURIComponent(file.file)}`
  // What a script that could not be read gives is nothing, which is told as damage.
  script.addEventListener('load', () => resolve(given))
  script.addEventListener('error', () => reject(missing(placeOf(file))))
  document.head.append(script)
  return promise.finally(() => script.remove())
}

/** Returns the content of a session's file, from the page itself or from a script beside it. */
export async function loadFile(file: PageFile): Promise<unknown> {
  if (file.file === '') {
    const isIt = (value: unknown): boolean => (value as { readonly root?: unknown } | undefined)?.root === file.root
    return inPage('session').find(isIt)
  }
  const loaded = last.then(() => byScript(file))
  last = loaded.catch(() => {})
  return await loaded
}
