import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants } from 'node:zlib'
import type { suiteNames } from '../suiteRuns.ts'

/** Recordings on the cassette of each suite: one trial of a task, in two arms. */
export const cassettes: Readonly<
  Record<(typeof suiteNames)[number], { readonly task: string; readonly arms: readonly string[] }>
> = {
  'stall-traps': { task: 'stale-lock', arms: ['off', 'stall+revert'] },
  retention: { task: 'unusual-name', arms: ['off', 'fold'] },
  'long-support': { task: 'wrong-order', arms: ['off', 'fold'] },
  'chained-exercises': { task: 'letters', arms: ['off', 'fold'] },
}

const fileOf = (suite: string): string => join(import.meta.dirname, `${suite}.json.br`)

/** Keeps what a recorded evaluation can be played from. Requests begin alike, so they pack well. */
export async function packCassette(suite: string, folder: string): Promise<void> {
  const names = await readdir(join(folder, 'recordings'))
  const paths = ['results.jsonl', ...names.toSorted().map((name) => `recordings/${name}`)]
  const files = await Promise.all(
    paths.map(async (path) => [path, await readFile(join(folder, path), 'utf8')] as const),
  )
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 }
  await writeFile(fileOf(suite), await promisify(brotliCompress)(JSON.stringify(Object.fromEntries(files)), { params }))
}

/** Puts a cassette into a folder, as `--record` had made it. */
export async function unpackCassette(suite: string, folder: string): Promise<void> {
  const text = (await promisify(brotliDecompress)(await readFile(fileOf(suite)))).toString('utf8')
  for (const [path, content] of Object.entries(JSON.parse(text) as Readonly<Record<string, string>>)) {
    const file = join(folder, path)
    if (relative(folder, file).startsWith(`..${sep}`)) throw new Error(`${path} leads out of the folder`)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, content)
  }
}
