import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { RuntimeError, toErrorInfo, type ErrorInfo } from '../../../../src/protocol/errors.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { packSession, type PackLimits } from './packSession.ts'
import { readPageAssets } from './pageAssets.ts'
import { folderPage, singlePage } from './pageHtml.ts'
import { indexName, inScript, pagesVersion, receiver, type CutLog, type PageFile } from './sessionFile.ts'

export interface SessionPagesOptions extends PackLimits {
  /** Stops the writing between two sessions. */
  readonly signal?: AbortSignal
  /** Called after each session. */
  onSession?(done: number, total: number): void
}

/** Result of writing a page with sessions. */
export interface SessionPages {
  /** Name of the page in the folder; a session is shown at `session.html#agent=<id>`. */
  readonly page: string
  /** Ids of the sessions that the page can show. */
  readonly written: readonly string[]
  /** Bytes of all files. */
  readonly bytes: number
  /** Logs that were written only in part, from their beginning. */
  readonly cut: readonly CutLog[]
  /** Sessions that could not be read, with the errors. The others are there. */
  readonly failed: readonly { readonly agentId: string; readonly error: ErrorInfo }[]
}

const pageName = 'session.html'

/** Returns a file name that even a case-blind disk takes for a different one than those taken. */
function fileName(root: string, taken: Set<string>): string {
  let name = root
  for (let count = 2; taken.has(name.toLowerCase()); count += 1) name = `${root}.${count}`
  taken.add(name.toLowerCase())
  return `${name}.js`
}

/**
 * Writes the inspector page into a folder, with sessions that it shows without a server: opened from a disk, or from any place that serves
 * files. `session.html#agent=<id>` shows one, by its own agent or one below it; each is in a file of its own that is loaded when it is
 * shown. Files that were in the folder before and are not written anew stay. Secrets are as the logs have them.
 *
 * @throws RuntimeError `FILE_MISSING` where the package was not built; what the file system throws; the reason of `signal`
 */
export async function writeSessionPages(
  folder: string,
  store: Store,
  agentIds: readonly string[],
  { signal, onSession, ...limits }: SessionPagesOptions = {},
): Promise<SessionPages> {
  const assets = await readPageAssets()
  await mkdir(join(folder, 'assets'), { recursive: true })
  await mkdir(join(folder, 'sessions'), { recursive: true })
  let bytes = 0
  const write = async (path: string, text: string): Promise<void> => {
    bytes += Buffer.byteLength(text)
    await writeFile(join(folder, path), text)
  }
  const files: PageFile[] = []
  const failed: SessionPages['failed'][number][] = []
  const taken = new Set<string>()
  const ids = [...new Set(agentIds)]
  for (const agentId of ids) {
    signal?.throwIfAborted()
    try {
      const { entry, packed } = await packSession(store, agentId, limits)
      const file = fileName(agentId, taken)
      await write(join('sessions', file), `${receiver}(${inScript(packed)})\n`)
      files.push({ ...entry, file })
    } catch (thrown) {
      if (!(thrown instanceof RuntimeError)) throw thrown
      failed.push({ agentId, error: toErrorInfo(thrown, 'STORE_READ_FAILED') })
    }
    onSession?.(files.length + failed.length, ids.length)
  }
  await write('sessions.js', `var ${indexName} = ${inScript({ version: pagesVersion, files })}\n`)
  await write(join('assets', 'inspector.js'), assets.script)
  await write(join('assets', 'inspector.css'), assets.style)
  await write(pageName, folderPage(assets))
  return {
    page: pageName,
    written: files.map(({ root }) => root),
    bytes,
    cut: files.flatMap(({ cut = [] }) => cut),
    failed,
  }
}

/**
 * Returns one HTML file that shows a session with its sub-agents, and needs no other file.
 *
 * @throws RuntimeError as `packSession`; `FILE_MISSING` where the package was not built
 */
export async function sessionPage(store: Store, agentId: string, limits: PackLimits = {}): Promise<string> {
  const { entry, packed } = await packSession(store, agentId, limits)
  const index = { version: pagesVersion, files: [{ ...entry, file: '' }] }
  return singlePage(await readPageAssets(), index, [packed])
}
