import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { cachedPackages } from '../support/cachedPackages.ts'

/** Bun, Deno, Node 22, and what the templates of the starter depend on. */
export const starterPackages = cachedPackages({
  name: 'What the starter is tried with',
  door: 'test/starter/starterLab.ts',
  here: import.meta.dirname,
  cache: 'escapement-starter',
})

const modules = join(starterPackages.folder, 'node_modules')
const machine = `${process.platform}-${process.arch}`

/** The first of these that is there. */
const programIn = (...paths: readonly string[]): string | undefined =>
  paths.map((path) => join(modules, path)).find((path) => existsSync(path))

/** How a TypeScript file is run by each; `undefined`: there is none for this machine. */
export const runtimes: Readonly<Record<string, () => readonly string[] | undefined>> = {
  'Node 24': () => [process.execPath],
  'Node 22': () => command(programIn(`node-${machine}/bin/node`)),
  Bun: () => command(programIn(`@oven/bun-${machine.replace('arm64', 'aarch64')}/bin/bun`)),
  Deno: () => command(programIn(`@deno/${machine}-glibc/deno`, `@deno/${machine}/deno`), 'run', '--allow-all'),
}

const command = (program: string | undefined, ...words: readonly string[]): readonly string[] | undefined =>
  program === undefined ? undefined : [program, ...words]
