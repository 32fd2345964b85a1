import { randomUUID } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { access, lstat, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errnoOf } from '../files/fileProblem.ts'
import { inItsFolder } from './inItsFolder.ts'

const createFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0)

/**
 * Replaces a file atomically: readers see either the old content or the new, and a failure or an abort leaves the old. Keeps the mode and,
 * where permitted, the owner of an existing file. `real` must come from `locate`, and its folder must exist.
 */
export const replaceFile = (
  real: string,
  content: string | Uint8Array,
  signal: AbortSignal,
  options: ReplaceOptions = {},
): Promise<void> => inItsFolder(real, (place) => replaceHere(place, content, signal, options))

interface ReplaceOptions {
  /** Permissions of a file that does not exist yet. */
  readonly mode?: number | undefined
  /** Awaited just before the new content takes its place; if it rejects, the old stays. */
  readonly check?: (() => Promise<void>) | undefined
}

async function replaceHere(
  real: string,
  content: string | Uint8Array,
  signal: AbortSignal,
  { mode, check }: ReplaceOptions,
): Promise<void> {
  const before = await statOf(real)
  if (before !== undefined && !before.isFile()) {
    throw Object.assign(new Error('not a regular file'), { code: before.isDirectory() ? 'EISDIR' : 'EEXIST' })
  }
  if (before !== undefined) await access(real, constants.W_OK)
  const temporary = join(dirname(real), `.${randomUUID()}.tmp`)
  try {
    const handle = await open(temporary, createFlags, 0o666)
    try {
      await handle.writeFile(content)
      if (before !== undefined) {
        await handle.chown(before.uid, before.gid).catch(() => {})
        await handle.chmod(before.mode & 0o7777)
      } else if (mode !== undefined) await handle.chmod(mode & 0o7777)
    } finally {
      await handle.close()
    }
    await check?.()
    signal.throwIfAborted()
    await rename(temporary, real)
  } catch (thrown) {
    await rm(temporary, { force: true })
    throw thrown
  }
}

async function statOf(real: string): Promise<Stats | undefined> {
  try {
    return await lstat(real)
  } catch (thrown) {
    if (errnoOf(thrown) === 'ENOENT') return undefined
    throw thrown
  }
}
