import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { placeOf } from '../files/openRegularFile.ts'

/**
 * Calls `use` with a path that leads into the present folder of a file, even if names above it are replaced later: on Linux, through the
 * folder's handle. Elsewhere it is the path itself. `real` must come from `locate`. Rejects when a folder above it has become a link since.
 */
export async function inItsFolder<T>(real: string, use: (place: string) => Promise<T>): Promise<T> {
  if (process.platform !== 'linux') return await use(real)
  const folder = dirname(real)
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    if ((await placeOf(handle, folder)) !== folder) throw new Error('its folder changed its place meanwhile; try again')
    return await use(join(`/proc/self/fd/${handle.fd}`, basename(real)))
  } finally {
    await handle.close()
  }
}
