import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { promisify } from 'node:util'
import { z } from 'zod'
import { lazily } from '../../../../src/protocol/lazily.ts'

/** Identity of a process, which distinguishes it from a later process with the same number, and from those of other machines. */
export const processIdentitySchema = lazily(() => z.object({ pid: z.int().min(2), start: z.string().min(1) }))
export type ProcessIdentity = z.infer<ReturnType<typeof processIdentitySchema>>

/** Resolves with the identity of a running process. */
export const identityOf = async (pid: number): Promise<ProcessIdentity> => ({
  pid,
  start: (await startOf(pid)) ?? 'unknown',
})

const run = promisify(execFile)

/** Resolves with a process's start, as a text unique among all starts of a machine; `undefined` if it is unknown or there is no process. */
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
