import { link, readFile, rename, unlink, writeFile } from 'node:fs/promises'
import { RuntimeError, hasCode } from '../../../src/protocol/errors.ts'
import type { LogHolder } from '../../../src/protocol/ports/store.ts'
import { holderIn, holderWords, isThisProcess, mayBeAlive, newHolder, type Holder } from './holder.ts'

/** An exclusive claim on a path, across processes. */
export interface FileLock {
  /** Writes the address of this process's agents into the lock. */
  announce(url: string | undefined): Promise<void>
  /** Removes the lock if it is still ours. */
  release(): Promise<void>
}

/** Returns the result of a file operation, or `instead` if it fails with this code. */
async function unless<T, U>(code: string, operation: Promise<T>, instead: U): Promise<T | U> {
  try {
    return await operation
  } catch (thrown) {
    if (hasCode(thrown, code)) return instead
    throw thrown
  }
}

const contentOf = (path: string): Promise<string | undefined> => unless('ENOENT', readFile(path, 'utf8'), undefined)

/** Returns true if the holder that a lock file names may still be at work. */
async function mayBeHeld(content: string): Promise<boolean> {
  // A lock file appears with its content, so only a crash of the whole machine leaves a blank one.
  if (/^[\s\0]*$/.test(content)) return false
  const holder = holderIn(content)
  return holder === undefined || (await mayBeAlive(holder))
}

function lockedError(path: string, content: string): RuntimeError {
  const holder = holderIn(content)
  const isOurs = holder !== undefined && isThisProcess(holder)
  const who = holder === undefined ? 'an unknown holder' : holderWords(holder)
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
 * Creates a hard link to `draft` at `path`, which is atomic and never replaces a file. A dead holder's lock is removed first, by one process at a
 * time: the one that holds the lock `path.takeover` and still finds the same content.
 */
async function claim(path: string, draft: string): Promise<void> {
  const guard = `${path}.takeover`
  while (!(await linked(draft, path))) {
    const seen = await contentOf(path)
    if (seen === undefined) continue
    if (await mayBeHeld(seen)) throw lockedError(path, seen)
    await claim(guard, draft)
    try {
      if ((await contentOf(path)) === seen) await unlink(path)
    } finally {
      await unlink(guard)
    }
  }
}

/**
 * Claims `path` for this process, in an existing folder. The lock of a dead process on this host is taken over, by only one of several processes that
 * try.
 * @throws RuntimeError `STORE_LOCKED`, naming the holder; file errors unchanged
 */
export async function lockFile(path: string, url?: string): Promise<FileLock> {
  const own = await newHolder()
  const holder = withUrl(own, url)
  const draft = `${path}.${holder.token}`
  try {
    await writeFile(draft, JSON.stringify(holder), { flag: 'wx' })
    await claim(path, draft)
  } finally {
    // A full disk lets the file be created but takes none of its bytes.
    await unless('ENOENT', unlink(draft), undefined)
  }
  const isOurs = async (): Promise<boolean> => {
    const content = await contentOf(path)
    return content !== undefined && holderIn(content)?.token === own.token
  }
  let changing = Promise.resolve()
  /** Writes one after the other, so that a released lock does not come back. */
  const next = (change: () => Promise<void>): Promise<void> => {
    const done = changing.then(async () => ((await isOurs()) ? change() : undefined))
    changing = done.catch(() => {})
    return done
  }
  return {
    announce: (to) =>
      next(async () => {
        await writeFile(draft, JSON.stringify(withUrl(own, to)), { flag: 'wx' })
        // Nobody removes the lock of a process that lives.
        await rename(draft, path)
      }),
    release: () => next(() => unless('ENOENT', unlink(path), undefined)),
  }
}

const withUrl = (holder: Holder, url: string | undefined): Holder => (url === undefined ? holder : { ...holder, url })

/** Returns the holder of a lock; `undefined` if there is none, or if its process is gone. */
export async function holderOf(path: string): Promise<Omit<LogHolder, 'isHere'> | undefined> {
  const content = await contentOf(path)
  if (content === undefined || !(await mayBeHeld(content))) return undefined
  const holder = holderIn(content)
  if (holder === undefined) return { words: 'an unknown holder' }
  return { ...(holder.url === undefined ? {} : { url: holder.url }), words: holderWords(holder) }
}
