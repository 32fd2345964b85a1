import { foreignAgents } from '../../packages/acp/test/foreign/qwen.ts'
import { bundlers } from '../bundlers/bundlers.ts'
import { chromium } from '../browser/installChromium.ts'
import { haproxy } from '../../packages/cli/test/installHaproxy.ts'
import { tmux } from '../../packages/cli/test/installTmux.ts'
import { shells } from '../../packages/cli/test/shells.ts'
import { judges } from '../judges/judges.ts'
import { restate } from '../../packages/cluster/test/restate/installRestate.ts'
import { starterPackages } from '../starter/runtimes.ts'
import { postgres } from '../../packages/postgres/test/installPostgres.ts'
import { sitePackages } from '../site/sitePackages.ts'
import { frontEndPackages } from '../frontEnds/frontEndPackages.ts'
import type { QueuedFile } from './fileQueue.ts'
import type { ImportGraph } from './importGraph.ts'
import { isCi } from './suite.ts'
import { isFull } from './testFiles.ts'

/** A program that some tests need and the repository does not bring. */
export interface Provision {
  readonly name: string
  /** Test files that reach this one need it. */
  readonly door: string
  isThere(): boolean
  /** Way to install it on this machine without asking a person, such as `by apt-get`; `undefined`: there is none. */
  way(): string | undefined
  /** Installs it; rejects if that fails. */
  install(): Promise<void>
  /** Advice to a person, in the imperative. */
  readonly advice: string
}

const provisions: readonly Provision[] = [
  chromium,
  bundlers,
  sitePackages,
  frontEndPackages,
  tmux,
  shells,
  haproxy,
  postgres,
  restate,
  starterPackages,
  judges,
  foreignAgents,
]

/** Modules shared by test files that run in the same worker: every file that imports one runs in its worker. */
const homes = [
  { door: sitePackages.door, worker: 0 },
  { door: frontEndPackages.door, worker: 1 },
  { door: 'test/bundlers/packedPackage.ts', worker: 1 },
  { door: postgres.door, worker: 1 },
  { door: restate.door, worker: 0 },
]

const firstLine = (thrown: unknown): string =>
  (thrown instanceof Error ? thrown.message : String(thrown)).trim().split('\n').at(-1)?.slice(0, 300) ?? ''

/** Installs it if that is possible, and prints a line about it. `undefined`: there is nothing to wait for. */
export function provide(
  { name, isThere, way, install, advice }: Provision,
  users: number,
  print: (line: string) => void,
): Promise<void> | undefined {
  if (users === 0 || isThere()) return undefined
  const files = users === 1 ? '1 test file needs' : `${users} test files need`
  const without = isCi() ? 'its tests fail, as CI is set' : 'its tests are skipped'
  const by = way()
  if (by === undefined) {
    print(`${name} is missing, which ${files}: ${without}. To have them, ${advice}.`)
    return undefined
  }
  print(`${name} is missing, which ${files}: installing it ${by}, while others run.`)
  return install().then(
    () => print(`${name} is installed.`),
    (thrown: unknown) =>
      print(`${name} could not be installed ${by} (${firstLine(thrown)}): ${without}. To have them, ${advice}.`),
  )
}

/** Begins to install missing programs that the `*.full.test.ts` among these files need, and returns each file with the promise that it waits for. */
export function setUp(
  files: readonly string[],
  graph: ImportGraph,
  print: (line: string) => void,
): (file: string) => QueuedFile {
  const needs = (file: string, { door }: Provision): boolean => isFull(file) && graph.reachedFrom(file).has(door)
  const installing = new Map<Provision, Promise<void> | undefined>()
  for (const each of provisions) {
    const users = files.filter((file) => needs(file, each)).length
    installing.set(each, provide(each, users, print))
  }
  return (file) => {
    const awaited = provisions.flatMap((each) => (needs(file, each) ? (installing.get(each) ?? []) : []))
    return {
      file,
      isPage: needs(file, chromium),
      home: homes.find(({ door }) => graph.reachedFrom(file).has(door))?.worker,
      held: awaited.length === 0 ? undefined : Promise.all(awaited).then(() => {}),
    }
  }
}
