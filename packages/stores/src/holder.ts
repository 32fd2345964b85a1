import { randomUUID } from 'node:crypto'
import { readFile, readlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { z } from 'zod'
import { lazily } from '../../../src/protocol/lazily.ts'
import { hasCode } from '../../../src/protocol/errors.ts'

const holderSchema = lazily(() =>
  z.object({
    pid: z.int().positive(),
    host: z.string(),
    /** Start time in ISO 8601, for display. */
    startedAt: z.string(),
    token: z.string(),
    processStart: z.string().exactOptional(),
    /** Name of the process-id namespace. Present on Linux, where each container has its own. */
    pidSpace: z.string().exactOptional(),
    /** Address at which its agents are reached. */
    url: z.string().exactOptional(),
  }),
)

/** Holder of a resource that processes share. */
export type Holder = z.infer<ReturnType<typeof holderSchema>>

/** Reads a holder from JSON; `undefined` if it is invalid. */
export function holderIn(content: string): Holder | undefined {
  try {
    return holderSchema().safeParse(JSON.parse(content)).data
  } catch {
    return undefined
  }
}

let ownStart: Promise<string | undefined> | undefined
let ownSpace: Promise<string | undefined> | undefined

const pidSpace = (): Promise<string | undefined> => (ownSpace ??= readlink('/proc/self/ns/pid').catch(() => undefined))

/** Returns this process as a holder, with a new token each time. */
export async function newHolder(): Promise<Holder> {
  ownStart ??= processStart(process.pid)
  const [start, space] = await Promise.all([ownStart, pidSpace()])
  return {
    pid: process.pid,
    host: hostname(),
    startedAt: new Date().toISOString(),
    token: randomUUID(),
    ...(start === undefined ? {} : { processStart: start }),
    ...(space === undefined ? {} : { pidSpace: space }),
  }
}

export const isThisProcess = ({ pid, host }: Holder): boolean => pid === process.pid && host === hostname()

/** Returns a description such as `process 12 (this one) on host since 2026-…`. */
export const holderWords = (holder: Holder): string =>
  `process ${holder.pid}${isThisProcess(holder) ? ' (this one)' : ''} on ${holder.host} since ${holder.startedAt}`

/** Returns true if a holder may still be running. A process of another host cannot be checked, so it counts as running. */
export async function mayBeAlive(holder: Holder): Promise<boolean> {
  if (holder.host !== hostname()) return true
  try {
    process.kill(holder.pid, 0)
  } catch (thrown) {
    return !hasCode(thrown, 'ESRCH')
  }
  if (holder.processStart === undefined) return true
  const start = await processStart(holder.pid)
  return start === undefined || start === holder.processStart
}

/**
 * Returns true if a process is known to have ended. This can be known only for a process of the same running system and process-id namespace, since
 * another machine or container may have the same name.
 */
export async function hasEnded(holder: Holder): Promise<boolean> {
  const own = await newHolder()
  const systemOf = ({ processStart: start }: Holder): string | undefined => start?.split('/')[0]
  const isKnown = systemOf(own) !== undefined && own.pidSpace !== undefined
  if (!isKnown || systemOf(holder) !== systemOf(own) || holder.pidSpace !== own.pidSpace) return false
  return !(await mayBeAlive(holder))
}

/**
 * Returns the start time of a process as an opaque string, which differs between two processes with the same pid. Returns `zombie` for a process that
 * has ended but was not reaped, and `undefined` if the time cannot be determined (it is read from Linux's `/proc`).
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
