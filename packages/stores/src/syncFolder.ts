import { open, type FileHandle } from 'node:fs/promises'

/**
 * Syncs a folder's list of names to disk, so that a new or renamed file survives a power cut. Does nothing on Windows, where a folder cannot be
 * opened.
 */
export async function syncFolder(dir: string): Promise<void> {
  if (process.platform === 'win32') return
  await syncAndClose(await open(dir, 'r'))
}

/** Syncs an open file to disk and closes it. */
export async function syncAndClose(handle: FileHandle): Promise<void> {
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
