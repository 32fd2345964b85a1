import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { sampleProject } from './sampleProject.ts'
import { folderPlace, type StorePlace } from '../config/storePlace.ts'

/** A copy of a project in its own temporary folder. */
export interface Workshop {
  readonly dir: string
  /** Place of the agent's log, beside the project. */
  readonly recordIn: StorePlace
  /** Environment of commands, with this Node first on the path. */
  readonly env: { readonly PATH: string }
  /** Runs node in the project, apart from the agent; resolves with true if it ends well in time. Rejects when `signal` aborts. */
  succeeds(
    args: readonly string[],
    options: { readonly signal: AbortSignal; readonly timeoutMs: number },
  ): Promise<boolean>
  /** Returns the differences from the original project, file by file. */
  changes(): string
}

/** Copies a project, by default the sample, to a new temporary folder, which is kept for inspection. */
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
    recordIn: folderPlace('log', folder),
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

const around = 2

/** Returns the lines in which two texts differ, with some around them, marked as in a unified diff; empty if they are equal. */
export function lineDiff(before: string, after: string): string {
  const rows = align(before.split('\n'), after.split('\n'))
  const near = rows.map((_, i) => rows.slice(Math.max(0, i - around), i + around + 1).some(({ mark }) => mark !== ' '))
  const shown = rows.flatMap(({ mark, line }, i) => {
    if (near[i] !== true) return []
    return i > 0 && near[i - 1] === false && near.slice(0, i).includes(true) ? ['  …', mark + line] : [mark + line]
  })
  return shown.join('\n')
}

/** Aligns two texts by their longest common sequence of lines. Time and memory grow with the product of their lengths. */
function align(before: readonly string[], after: readonly string[]): { mark: ' ' | '-' | '+'; line: string }[] {
  const lengths = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1))
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      lengths[i]![j] =
        before[i] === after[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!)
    }
  }
  const rows: { mark: ' ' | '-' | '+'; line: string }[] = []
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      rows.push({ mark: ' ', line: before[i]! })
      i++
      j++
    } else if (j === after.length || (i < before.length && lengths[i + 1]![j]! >= lengths[i]![j + 1]!))
      rows.push({ mark: '-', line: before[i++]! })
    else rows.push({ mark: '+', line: after[j++]! })
  }
  return rows
}
