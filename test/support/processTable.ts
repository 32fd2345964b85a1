import { readdirSync, readFileSync } from 'node:fs'

/** Milliseconds of a tick of `/proc`. */
const tickMs = 10

/** A process, as the system tells of it. */
export interface ProcessStat {
  readonly parent: number
  /** Milliseconds of its own processor time. */
  readonly own: number
  /** Milliseconds of processor time of the children that it waited for. */
  readonly waited: number
}

/** State of a process; `undefined`: it has ended, or there is no `/proc`. */
export function statOf(pid: number | string): ProcessStat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name before it may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const [parent = 0, user = 0, system = 0, childUser = 0, childSystem = 0] = [1, 11, 12, 13, 14].map((at) =>
      Number(fields[at]),
    )
    return { parent, own: (user + system) * tickMs, waited: (childUser + childSystem) * tickMs }
  } catch {
    return undefined
  }
}

/** All processes, by number; empty where there is no `/proc`. */
function all(): ReadonlyMap<number, ProcessStat> {
  let names: readonly string[]
  try {
    names = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return new Map()
  }
  return new Map(
    names.flatMap((name) => {
      const stat = statOf(name)
      return stat === undefined ? [] : [[Number(name), stat] as const]
    }),
  )
}

/** A process and all below it. */
function family(root: number): readonly (readonly [pid: number, stat: ProcessStat])[] {
  const stats = all()
  const isBelow = (pid: number): boolean => {
    for (let at = pid; at > 1; at = stats.get(at)?.parent ?? 0) if (at === root) return true
    return false
  }
  return [...stats].filter(([pid]) => isBelow(pid))
}

/** The numbers of the processes below one. */
export const descendants = (root: number): readonly number[] =>
  family(root).flatMap(([pid]) => (pid === root ? [] : [pid]))

/** Milliseconds of processor time of a process and all below it; 0 where there is no `/proc`. */
export const processorTimeOf = (root: number): number =>
  family(root).reduce((sum, [, { own, waited }]) => sum + own + waited, 0)
