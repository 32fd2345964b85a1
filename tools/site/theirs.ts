/**
 * `npm run site:theirs`: compiles the code of other projects that docs/comingFrom shows, each page's against the versions that it names.
 * It installs them into a temporary folder, and so is not one of the tests.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const pages = join(import.meta.dirname, '..', '..', 'docs', 'comingFrom')

/** Packages that the code needs to be compiled, besides those that it names itself. */
const tools = ['typescript@6', '@types/node@24', 'zod@4']

/** Declarations of the reader's own program. */
const prelude = `declare function askPerson(question: string): Promise<boolean>
declare function saveChat(id: string, messages: unknown): Promise<void>
`

const options =
  '--noEmit --strict --noUncheckedIndexedAccess --skipLibCheck --pretty false --module nodenext --target es2024 --types node'.split(
    ' ',
  )

/** The packages that a page says its code was compiled against, such as `ai@7.0.173`. Pure. */
export function statedVersions(page: string): readonly string[] {
  const [, stated = ''] = /^Their code was compiled against (.+?); ours/m.exec(page) ?? []
  return [...stated.matchAll(/(@?[\w-]+(?:\/[\w-]+)?) (\d+\.\d+\.\d+)/g)].map(
    ([, name, version]) => `${name}@${version}`,
  )
}

/** Their code of a page, as one module. Pure. */
export const theirCode = (page: string): string =>
  prelude + [...page.matchAll(/^```ts theirs\n([\s\S]*?)^```/gm)].map(([, code]) => code).join('\n')

/** Prints what the compiler says; resolves to whether it said nothing. */
async function compiles(name: string): Promise<boolean> {
  const page = await readFile(join(pages, name), 'utf8')
  const folder = await mkdtemp(join(tmpdir(), 'escapement-theirs-'))
  try {
    await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}')
    await writeFile(join(folder, 'page.ts'), theirCode(page))
    const npm = ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...statedVersions(page), ...tools]
    await promisify(execFile)('npm', npm, { cwd: folder })
    const tsc = join(folder, 'node_modules', 'typescript', 'bin', 'tsc')
    const said = await promisify(execFile)(process.execPath, [tsc, ...options, 'page.ts'], { cwd: folder }).then(
      () => '',
      (thrown: unknown) => (thrown as { readonly stdout: string }).stdout,
    )
    console.log(said === '' ? `${name}: ${statedVersions(page).join(', ')}` : `${name}:\n${said}`)
    return said === ''
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const outcomes: boolean[] = []
  for (const name of await readdir(pages)) outcomes.push(await compiles(name))
  process.exitCode = outcomes.every(Boolean) ? 0 : 1
}
