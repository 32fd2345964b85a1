import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as core from '../../../src/index.ts'
import type * as offlinePage from '../../../scripts/offlinePage.ts'
import type * as sorter from '../../../packages/cli/src/demo/sorter.ts'
import type * as workshop from '../../../packages/cli/src/demo/workshop.ts'
import type * as openSession from '../../../packages/cli/src/sessions/openSession.ts'
import type * as sortTask from '../../../packages/demo/src/sortTask.ts'
import type * as packSession from '../../../packages/page/src/sessionPages/packSession.ts'
import type * as pageAssets from '../../../packages/page/src/sessionPages/pageAssets.ts'
import type * as pageHtml from '../../../packages/page/src/sessionPages/pageHtml.ts'
import type * as sessionFile from '../../../packages/page/src/sessionPages/sessionFile.ts'
import { sourcesKey } from './sourcesKey.ts'

/** Name of the page with a recorded session, beside the pages of its version. */
export const recordedPage = 'recorded.html'

/** Milliseconds that the work of the recorded agent may take: enough on a busy machine, too few for its first idea on any. */
const timeLimitMs = 4_000

type Everything = typeof core &
  typeof offlinePage &
  typeof sorter &
  typeof workshop &
  typeof openSession &
  typeof sortTask &
  typeof packSession &
  typeof pageAssets &
  typeof pageHtml &
  typeof sessionFile

const modules = [
  'src/index.ts',
  'scripts/offlinePage.ts',
  ...['demo/sorter', 'demo/workshop', 'sessions/openSession'].map((name) => `packages/cli/src/${name}.ts`),
  'packages/demo/src/sortTask.ts',
  ...['packSession', 'pageAssets', 'pageHtml', 'sessionFile'].map(
    (name) => `packages/page/src/sessionPages/${name}.ts`,
  ),
] as const

/** The modules of a version, by what they export. */
async function everythingOf(root: string): Promise<Everything> {
  const loaded = modules.map(async (path) => (await import(pathToFileURL(join(root, path)).href)) as object)
  return Object.assign({}, ...(await Promise.all(loaded))) as Everything
}

/**
 * Records the sort demo with the sources of a version and makes the page that shows it without a server. The page of a version that has been
 * recorded before is reused. Returns its file; `undefined` for a version whose pages name none.
 */
export async function recordedSession(root: string, kept: string): Promise<string | undefined> {
  if (!existsSync(join(root, 'tools', 'site', 'content', 'session.md'))) return undefined
  const target = join(kept, `${await sourcesKey(root, import.meta.filename)}.html`)
  if (existsSync(target)) return target
  await mkdir(kept, { recursive: true })
  const draft = await mkdtemp(join(kept, 'draft-'))
  try {
    const made = join(draft, recordedPage)
    await writeFile(made, await record(await everythingOf(root), join(draft, 'assets')))
    await rename(made, target)
    return target
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

async function record(of: Everything, assets: string): Promise<string> {
  await of.bundleOffline([], assets)
  const workshop = of.openWorkshop({ [of.checkFile]: of.checkProgram })
  const store = of.memoryStore()
  const runtime = await of.createRuntime({ store })
  try {
    const setting = { ...workshop, ...of.sorterSetting(false), choice: of.embeddedSorter(false), name: 'sorter' }
    const agent = await runtime.spawn(of.defineCoder(setting), { id: 'sorter' })
    const { text } = await agent.prompt(of.sortTask(timeLimitMs)).result
    if (!text.startsWith('Done')) throw new Error(`The session was not recorded; its agent says: ${text}`)
    const { entry, packed } = await of.packSession(store, agent.id)
    const index = { version: of.pagesVersion, files: [{ ...entry, file: '' }] }
    return of.singlePage(await of.readPageAssets(pathToFileURL(`${assets}/`)), index, [packed])
  } finally {
    await runtime.close()
    await rm(dirname(workshop.dir), { recursive: true, force: true, maxRetries: 5 })
  }
}
