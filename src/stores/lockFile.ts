import { randomUUID } from 'node:crypto'
import { link, readFile, unlink, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { z } from 'zod'
import { RuntimeError, hasCode } from '../protocol/errors.ts'

/** An exclusive claim on a path, across processes. */
export interface FileLock {
  /** Removes the lock when it is still ours. */
  release(): Promise<void>
}

const holderSchema = z.object({
  pid: z.int().positive(),
  host: z.string(),
  /** ISO 8601, for people. */
  startedAt: z.string(),
  token: z.string(),
  processStart: z.string().exactOptional(),
})
type Holder = z.infer<typeof holderSchema>

/** The result of a file operation, or `instead` if it fails with this code. */
async function unless<T, U>(code: string, operation: Promise<T>, instead: U): Promise<T | U> {
  try {
    return await operation
  } catch (thrown) {
    if (hasCode(thrown, code)) return instead
    throw thrown
  }
}

const contentOf = (path: string): Promise<string | undefined> => unless('ENOENT', readFile(path, 'utf8'), undefined)

function holderIn(content: string): Holder | undefined {
  try {
    return holderSchema.safeParse(JSON.parse(content)).data
  } catch {
    return undefined
  }
}

/** Whether the holder may still be at work; a process of another host cannot be looked up, so it may. */
async function mayBeAlive(content: string): Promise<boolean> {
  // A lock file appears with its content, so only a crash of the whole machine leaves a blank one.
  if (/^[\s\0]*$/.test(content)) return false
  const holder = holderIn(content)
  if (holder === undefined || holder.host !== hostname()) return true
  try {
    process.kill(holder.pid, 0)
  } catch (thrown) {
    return !hasCode(thrown, 'ESRCH')
  }
  if (holder.processStart === undefined) return true
  const start = await processStart(holder.pid)
  return start === undefined || start === holder.processStart
}

function lockedError(path: string, content: string): RuntimeError {
  const holder = holderIn(content)
  const isOurs = holder?.pid === process.pid && holder.host === hostname()
  const who =
    holder === undefined
      ? 'an unknown holder'
      : `process ${holder.pid}${isOurs ? ' (this one)' : ''} on ${holder.host} since ${holder.startedAt}`
  const what = isOurs
    ? 'another store or runtime in it has the log open'
    : 'if that is gone for certain, delete the file'
  return new RuntimeError('STORE_LOCKED', `${path} is held by ${who}; ${what}.`)
}

const linked = (draft: string, path: string): Promise<boolean> =>
  unless(
    'EEXIST',
    link(draft, path).then(() => true),
    false,
  )

/**
 * Puts a hard link to `draft` at `path`, which is atomic and never replaces. A dead holder's lock is removed first, by
 * one process at a time: whoever holds `path.takeover`, a lock like this one, and still finds the same content.
 */
async function claim(path: string, draft: string): Promise<void> {
  const guard = `${path}.takeover`
  while (!(await linked(draft, path))) {
    const seen = await contentOf(path)
    if (seen === undefined) continue
    if (await mayBeAlive(seen)) throw lockedError(path, seen)
    await claim(guard, draft)
    try {
      if ((await contentOf(path)) === seen) await unlink(path)
    } finally {
      await unlink(guard)
    }
  }
}

let ownStart: Promise<string | undefined> | undefined

/**
 * Claims `path` for this process, in a folder that exists. The lock of a process of this host that is gone is taken over;
 * of several processes that try, one gets it.
 *
 * @throws RuntimeError `STORE_LOCKED`, naming the holder; file errors as they are.
 */
export async function lockFile(path: string): Promise<FileLock> {
  ownStart ??= processStart(process.pid)
  const start = await ownStart
  const holder: Holder = {
    pid: process.pid,
    host: hostname(),
    startedAt: new Date().toISOString(),
    token: randomUUID(),
    ...(start === undefined ? {} : { processStart: start }),
  }
  const draft = `${path}.${holder.token}`
  try {
    await writeFile(draft, JSON.stringify(holder), { flag: 'wx' })
    await claim(path, draft)
  } finally {
    // A full disk lets the file be created but takes none of its bytes.
    await unless('ENOENT', unlink(draft), undefined)
  }
  return {
    async release() {
      const content = await contentOf(path)
      if (content !== undefined && holderIn(content)?.token === holder.token)
        await unless('ENOENT', unlink(path), undefined)
    },
  }
}

/**
 * When a process was started, as an opaque string that differs between two processes that had the same pid; `zombie` for
 * one that has ended but was not collected; `undefined` where it cannot be determined (it is read from Linux's `/proc`).
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
