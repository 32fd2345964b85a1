import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { needing } from '../support/needing.ts'
import type { It } from '../support/suite.ts'
import { judges } from './judges.ts'

type Load = (name: string) => Promise<unknown>

let load: Promise<Load> | undefined

/** A module of the packages in this folder; they find each other where they are installed. */
export const judge = async <T>(name: string): Promise<T> => (await (load ??= loader()))(name) as Promise<T>

/** The path of a file of these packages. */
export const judgeFile = (...path: readonly string[]): string => join(judges.folder, 'node_modules', ...path)

/** Registers cases that need these packages. */
export const judged = (it: It): ReturnType<typeof needing> => needing(judges, it)

/** A module that imports for us, from among the packages: Node resolves names from where the file is that imports. */
async function loader(): Promise<Load> {
  const folder = await mkdtemp(join(judges.folder, 'load-'))
  try {
    const file = join(judges.folder, 'load.mjs')
    await writeFile(join(folder, 'load.mjs'), 'export const load = (name) => import(name)\n')
    // Whole at once: other workers may be reading it.
    await rename(join(folder, 'load.mjs'), file)
    return ((await import(pathToFileURL(file).href)) as { readonly load: Load }).load
  } finally {
    await rm(folder, { recursive: true })
  }
}
