import type { ChildProcess } from 'node:child_process'
import { subscribe } from 'node:diagnostics_channel'
import { readdirSync, readFileSync } from 'node:fs'
import { isOver, stopwatch } from './deadline.ts'

const running = new Set<ChildProcess>()
const kept = new WeakSet<ChildProcess>()

/** From now on the processes that this one starts are known. */
export function watchProcesses(): void {
  subscribe('child_process', (message) => {
    const { process: child } = message as { readonly process: ChildProcess }
    running.add(child)
    child.once('exit', () => running.delete(child))
    child.once('error', () => running.delete(child))
  })
}

/** A server that the files of a process share: none of them has left it behind. */
export const keepProcess = (child: ChildProcess): void => void kept.add(child)

/** Those that run now. */
export const runningProcesses = (): ReadonlySet<ChildProcess> => new Set(running)

const graceMs = 500
const pollMs = 10

/** The processes that run now and did not before; what is just ending has half a second, longer on a busy machine. They are killed. */
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

/** Milliseconds of a tick of `/proc`. */
const tickMs = 10

interface Stat {
  readonly parent: number
  /** Milliseconds of processor time of itself. */
  readonly own: number
  /** Of the children that it waited for. */
  readonly waited: number
}

function statOf(pid: number | string): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name before it may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const [parent = 0, user = 0, system = 0, childUser = 0, childSystem = 0] = [1, 11, 12, 13, 14].map((at) =>
      Number(fields[at]),
    )
    return { parent, own: (user + system) * tickMs, waited: (childUser + childSystem) * tickMs }
  } catch {
    // It has ended, or there is no `/proc`.
    return undefined
  }
}

/** Milliseconds of processor time of a process and all below it; 0 where there is no `/proc`. */
export function processorTimeOf(root: number): number {
  const stats = new Map<number, Stat>()
  try {
    for (const name of readdirSync('/proc')) {
      const stat = /^\d+$/.test(name) ? statOf(name) : undefined
      if (stat !== undefined) stats.set(Number(name), stat)
    }
  } catch {
    return 0
  }
  const isBelow = (pid: number): boolean => {
    for (let at = pid; at > 1; at = stats.get(at)?.parent ?? 0) if (at === root) return true
    return false
  }
  return [...stats].reduce((sum, [pid, { own, waited }]) => (isBelow(pid) ? sum + own + waited : sum), 0)
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
