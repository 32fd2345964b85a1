import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { promisify } from 'node:util'
import { z } from 'zod'
import { lazily } from '../../../../src/protocol/lazily.ts'

/** A process that cannot be taken for a later one of the same number, or for one of another machine. */
export const processIdentitySchema = lazily(() => z.object({ pid: z.int().min(2), start: z.string().min(1) }))
export type ProcessIdentity = z.infer<ReturnType<typeof processIdentitySchema>>

/** The identity of a process that runs. */
export const identityOf = async (pid: number): Promise<ProcessIdentity> => ({
  pid,
  start: (await startOf(pid)) ?? 'unknown',
})

const run = promisify(execFile)

/** Returns when a process was started, in words that no other start of a machine uses; `undefined`: there is no such process, or it is not known. */
export async function startOf(pid: number): Promise<string | undefined> {
  try {
    return process.platform === 'linux' ? await startOnLinux(pid) : await startByPs(pid)
  } catch {
    return undefined
  }
}

async function startOnLinux(pid: number): Promise<string | undefined> {
  const [stat, boot] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8'),
    readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
  ])
  // The name of the program, in brackets, may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, ticks] = [fields[0], fields[19]]
  // One that has ended, and that nobody has waited for, ends no more.
  return state === 'Z' || ticks === undefined ? undefined : `${boot.trim()}/${ticks}`
}

async function startByPs(pid: number): Promise<string | undefined> {
  const { stdout } = await run('ps', ['-o', 'lstart=', '-p', String(pid)], { timeout: 5_000 })
  const start = stdout.trim()
  return start === '' ? undefined : `${hostname()}/${start}`
}
