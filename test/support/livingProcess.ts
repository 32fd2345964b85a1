import { existsSync, readFileSync } from 'node:fs'

/** True while a process of this id is there and has not ended. One that has ended stays in the table until its parent asks for it. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  if (!existsSync('/proc/self')) return true
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/** Looks until a process has ended, as a signal is sent before it is obeyed; the case's deadline ends it. */
export async function untilDead(pid: number, signal: AbortSignal): Promise<void> {
  while (isAlive(pid)) {
    signal.throwIfAborted()
    await new Promise((resolve) => void setTimeout(resolve, 5))
  }
}
