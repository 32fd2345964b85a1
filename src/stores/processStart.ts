import { readFile } from 'node:fs/promises'

/**
 * When a process was started, as an opaque string that differs between two processes that had the same pid; `zombie` for
 * one that has ended but was not collected; `undefined` where it cannot be told (it is read from Linux' `/proc`).
 */
export async function processStart(pid: number): Promise<string | undefined> {
  if (process.platform !== 'linux') return undefined
  try {
    const [boot, stat] = await Promise.all([
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
      readFile(`/proc/${pid}/stat`, 'utf8'),
    ])
    // The second field is the program's name in parentheses, and may hold spaces and parentheses itself.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [state, startTicks] = [fields[0], fields[19]]
    if (state === 'Z' || state === 'X') return 'zombie'
    return startTicks === undefined ? undefined : `${boot.trim()}/${startTicks}`
  } catch {
    return undefined
  }
}
