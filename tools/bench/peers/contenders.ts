import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Contender } from './contender.ts'

/** How a contender is named in tables, and the package whose version stands beside it. */
export interface Entry {
  readonly label: string
  /** In this folder's `node_modules`, or the repository's own. None: it is a part of this repository. */
  readonly package?: string
  load(): Promise<Contender>
}

/** By a path that the compiler does not follow: the packages are not there in a plain checkout. */
const installed = async (file: string): Promise<Contender> => {
  const module = (await import(`./contenders/${file}.ts`)) as Readonly<Record<string, Contender>>
  return module[file]!
}

/** Everybody that can be measured; the floor first, ourselves last. */
export const contenders = {
  floor: { label: 'floor', load: async () => (await import('../contenders/floor.ts')).floor },
  xstate: {
    label: 'XState loop',
    package: 'xstate',
    load: async () => (await import('../contenders/xstate.ts')).xstate,
  },
  pi: { label: 'pi-agent-core', package: '@earendil-works/pi-agent-core', load: () => installed('pi') },
  piBefore: {
    label: 'pi-agent-core',
    package: '@mariozechner/pi-agent-core',
    load: () => installed('piBefore'),
  },
  aiSdk: { label: 'AI SDK', package: 'ai', load: () => installed('aiSdk') },
  langGraph: { label: 'LangGraph.js', package: '@langchain/langgraph', load: () => installed('langGraph') },
  escapement: { label: 'escapement', load: async () => (await import('../contenders/escapement.ts')).escapement },
} as const satisfies Readonly<Record<string, Entry>>

export type ContenderName = keyof typeof contenders

export const contenderNames = Object.keys(contenders) as readonly ContenderName[]

const entryOf = (name: ContenderName): Entry => contenders[name]

const root = join(import.meta.dirname, '..', '..', '..')

/** Its `package.json`; `undefined` when it is not installed. */
const packageFile = (of: string): string | undefined =>
  [import.meta.dirname, root].map((folder) => join(folder, 'node_modules', of, 'package.json')).find(existsSync)

/** Those of these whose package is not installed. */
export const missing = (names: readonly ContenderName[]): readonly ContenderName[] =>
  names.filter((name) => {
    const { package: of } = entryOf(name)
    return of !== undefined && packageFile(of) === undefined
  })

/** The version that is measured; empty for what has none. */
export async function versionOf(name: ContenderName): Promise<string> {
  const { package: of } = entryOf(name)
  const file = of === undefined ? undefined : packageFile(of)
  return file === undefined ? '' : (JSON.parse(await readFile(file, 'utf8')) as { version: string }).version
}
