import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { lineDiff } from './lineDiff.ts'
import { sampleProject } from './sampleProject.ts'

/** A copy of a project in a temporary folder of its own. */
export interface Workshop {
  readonly dir: string
  /** Where the agent is recorded: beside the project, not in it. */
  readonly recordIn: string
  /** Environment of commands: this Node first, whatever the machine has. */
  readonly env: { readonly PATH: string }
  /** Runs node in the project, apart from the agent: whether it ends well in time. Rejects when `signal` aborts. */
  succeeds(
    args: readonly string[],
    options: { readonly signal: AbortSignal; readonly timeoutMs: number },
  ): Promise<boolean>
  /** What differs from the project as it was, file by file. */
  changes(): string
}

/** Copies a project, by default the sample, to a fresh temporary folder, which stays for the reader to look at. */
export function openWorkshop(project = sampleProject): Workshop {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'escapement-demo-')))
  const dir = join(folder, 'project')
  for (const [path, content] of Object.entries(project)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), content)
  }
  const env = { PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}` }
  return {
    dir,
    recordIn: join(folder, 'log'),
    env,
    succeeds: (args, { signal, timeoutMs }) =>
      new Promise((resolve, reject) => {
        const options = {
          cwd: dir,
          env: { ...process.env, ...env, NODE_TEST_CONTEXT: undefined },
          signal,
          timeout: timeoutMs,
        }
        execFile(process.execPath, args, options, (error) => {
          if (signal.aborted) reject(signal.reason as Error)
          else resolve(error === null)
        })
      }),
    changes: () =>
      Object.entries(project)
        .map(([path, before]) => ({ path, diff: lineDiff(before, contentOf(join(dir, path))) }))
        .filter(({ diff }) => diff !== '')
        .map(({ path, diff }) => `${path}\n${diff}`)
        .join('\n\n'),
  }
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
