import type { TaskInfo } from '../results.ts'
import type { Shell } from '../sandbox.ts'
import { seedOf } from '../plan.ts'
import type { Suite, SuiteTask } from '../suite/suite.ts'
import { checkTrial, prepare, setupImage, workFolder } from './runTrial.ts'
import { outcomeOf } from './outcome.ts'
import type { TaskImage } from '../suite/task.ts'
import { tryRemoveFolder } from './workspace.ts'

interface Options {
  readonly workspaces: string
  shellFor(dir: string, image?: TaskImage): Shell
  readonly concurrency: number
  readonly seed: number
  readonly signal: AbortSignal
}

/**
 * Returns the tasks, with a mark on those that pass before an agent has done anything: their checks
 * run once in a folder that was only set up. The judge is not asked.
 */
export async function passesWithoutWork(suite: Suite, options: Options): Promise<readonly TaskInfo[]> {
  const { tasks } = suite
  const infos: TaskInfo[] = []
  let next = 0
  const work = async (): Promise<void> => {
    while (next < tasks.length && !options.signal.aborted) {
      const index = next++
      const task = tasks[index]!
      const { id, tags } = task
      const passes = await passesAsItIs(suite, task, options)
      infos[index] = { id, tags, ...(passes ? { passesWithoutWork: true as const } : {}) }
    }
  }
  await Promise.all(Array.from({ length: Math.min(options.concurrency, tasks.length) }, work))
  return infos
}

async function passesAsItIs(
  suite: Suite,
  task: SuiteTask,
  { workspaces, shellFor, seed, signal }: Options,
): Promise<boolean> {
  const dir = workFolder(workspaces, `${task.id} untouched`)
  const shell = shellFor(dir, task.image)
  try {
    if ((await prepare(task, dir, shellFor(dir, setupImage(task)), signal)) !== undefined) return false
    const trial = { task: task.id, trial: 0, seed: seedOf(seed, task.id, 0), arm: '', dir, answer: '' }
    const nothing = { result: null, records: new Map(), metrics: null, signal }
    return outcomeOf(await checkTrial(suite, task, { shell, judge: undefined }, { ...trial, ...nothing })) === 'passed'
  } catch {
    // Said by every trial of it.
    return false
  } finally {
    await tryRemoveFolder(dir)
  }
}
