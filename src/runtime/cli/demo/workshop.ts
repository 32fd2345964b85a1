import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { lineDiff } from './lineDiff.ts'
import { sampleProject } from './sampleProject.ts'

/** A copy of the sample project in a temporary folder of its own. */
export interface Workshop {
  readonly dir: string
  /** Where the agent is recorded: beside the project, not in it. */
  readonly recordIn: string
  /** Environment of commands: this Node first, whatever the machine has. */
  readonly env: { readonly PATH: string }
  /** Runs the project's tests, apart from the agent; rejects when `signal` aborts. */
  testsPass(signal: AbortSignal): Promise<boolean>
  /** What differs from the sample project, file by file. */
  changes(): string
}

/** Copies the sample project to a fresh temporary folder, which stays for the reader to look at. */
export function openWorkshop(): Workshop {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'escapement-demo-')))
  const dir = join(folder, 'project')
  for (const [path, content] of Object.entries(sampleProject)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), content)
  }
  const env = { PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}` }
  return {
    dir,
    recordIn: join(folder, 'log'),
    env,
    testsPass: (signal) => runTests(dir, { ...process.env, ...env, NODE_TEST_CONTEXT: undefined }, signal),
    changes: () =>
      Object.entries(sampleProject)
        .map(([path, before]) => ({ path, diff: lineDiff(before, contentOf(join(dir, path))) }))
        .filter(({ diff }) => diff !== '')
        .map(({ path, diff }) => `${path}\n${diff}`)
        .join('\n\n'),
  }
}

const runTests = (cwd: string, env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve, reject) => {
    execFile(process.execPath, ['--test'], { cwd, env, signal, timeout: 60_000 }, (error) => {
      if (signal.aborted) reject(signal.reason as Error)
      else resolve(error === null)
    })
  })

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
