import type { ChildProcess } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import { isOver, stopwatch } from './deadline.ts'
import { processorTimeOf, statOf } from './processTable.ts'

const running = new Set<ChildProcess>()
const kept = new WeakSet<ChildProcess>()

/** Begins to track the processes that this one starts. */
export function watchProcesses(): void {
  subscribe('child_process', (message) => {
    const { process: child } = message as { readonly process: ChildProcess }
    running.add(child)
    child.once('exit', () => running.delete(child))
    child.once('error', () => running.delete(child))
  })
}

/** Marks a process as a server that the files of this process share, so that it does not count as left behind. */
export const keepProcess = (child: ChildProcess): void => void kept.add(child)

/** Processes that run at the moment. */
export const runningProcesses = (): ReadonlySet<ChildProcess> => new Set(running)

/** Kills processes that still run; servers that files share end by themselves. */
export function killRunning(): void {
  for (const child of running) if (!kept.has(child)) child.kill('SIGKILL')
}

const graceMs = 500
const pollMs = 10

/**
 * Kills the processes that run and did not run before, and resolves with their command lines. A process that is ending has half a second,
 * longer on a busy machine.
 */
export async function leftRunning(before: ReadonlySet<ChildProcess>): Promise<readonly string[]> {
  const elapsed = stopwatch()
  const left = (): readonly ChildProcess[] =>
    [...running].filter((child) => child.pid !== undefined && !before.has(child) && !kept.has(child))
  while (left().length > 0 && !isOver(elapsed(), graceMs)) await new Promise((resolve) => setTimeout(resolve, pollMs))
  return left().map((child) => {
    child.kill('SIGKILL')
    return child.spawnargs.join(' ')
  })
}

/** Milliseconds of processor time of this process and all that it started; of this process alone where there is no `/proc`. */
export function processorTime(): number {
  const { user, system } = process.cpuUsage()
  const own = (user + system) / 1_000
  const stat = statOf(process.pid)
  if (stat === undefined) return own
  // A look at all processes is dear, and most files start none.
  const below = running.size === 0 ? stat.waited : processorTimeOf(process.pid) - stat.own
  return own + below
}
