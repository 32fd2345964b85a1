import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { CaseContext } from './suite.ts'

const repository = join(import.meta.dirname, '..', '..')
const here = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href)

export interface RunnerOutcome {
  readonly code: number | null
  readonly output: string
  /** The line the run closes with. */
  readonly last: string
}

/** A project of its own in a temporary folder, gone after the case; each test file gets the door's imports. */
export async function testProject(
  { cleanup }: Pick<CaseContext, 'cleanup'>,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'escapement-runner-')))
  cleanup(() => rm(root, { recursive: true, force: true, maxRetries: 5 }))
  await symlink(join(repository, 'node_modules'), join(root, 'node_modules'))
  const imports = `import { describe, assert } from ${here('./suite.ts')}\n`
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), path.endsWith('.test.ts') ? imports + text : text)
  }
  return root
}

/** Runs a program of Node to its end; the environment says nothing of tests. */
export async function ended(
  { signal }: Pick<CaseContext, 'signal'>,
  cwd: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<RunnerOutcome> {
  const clean = {
    NO_COLOR: '1',
    FORCE_COLOR: undefined,
    TEST_TIMEOUT_FACTOR: undefined,
    TEST_SEEDS: undefined,
    CI: undefined,
  }
  const child = spawn(process.execPath, args, {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
    env: { ...process.env, ...clean, ...env },
  })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
  const code = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  const output = Buffer.concat(chunks).toString()
  return { code, output, last: output.trimEnd().split('\n').at(-1) ?? '' }
}

/** Runs the runner on such files. */
export async function runOn(
  context: Pick<CaseContext, 'cleanup' | 'signal'>,
  files: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<RunnerOutcome> {
  const root = await testProject(context, files)
  return await runIn(context, root, args, env)
}

/** Runs the runner on a project. */
export async function runIn(
  context: Pick<CaseContext, 'signal'>,
  root: string,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<RunnerOutcome> {
  // What it keeps for later runs is its own.
  const own = { XDG_CACHE_HOME: join(root, '.cache'), ...env }
  const start = `import { runTests } from ${here('./runner.ts')}\nawait runTests(${JSON.stringify(root)}, process.argv.slice(2))\n`
  await writeFile(join(root, 'run.ts'), start)
  return await ended(context, root, [join(root, 'run.ts'), ...args], own)
}

/** Folder in which such a run keeps durations and flaky cases. */
export const cacheIn = (root: string): string => join(root, '.cache', 'escapement', 'tests')

/** Writes the table of durations that such a run reads. */
export const timesFile = (table: Readonly<Record<string, number>>): Readonly<Record<string, string>> => ({
  '.cache/escapement/tests/times.json': JSON.stringify(table),
})

/** A file with one case. */
export const oneCase = (body: string): string =>
  `describe('s', (it) => { it('works', async ({ signal, cleanup }) => { ${body} }) })`
