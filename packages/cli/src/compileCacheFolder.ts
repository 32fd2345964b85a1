import { homedir } from 'node:os'
import { join } from 'node:path'

/**
 * Returns the folder for the command line's Node compile cache, inside the user's own cache folder. The cache is executed, and the folder for
 * temporary files, Node's default, is writable by others.
 */
export function compileCacheFolder(
  { platform, env }: Pick<NodeJS.Process, 'platform' | 'env'>,
  home = homedir(),
): string {
  const caches =
    platform === 'win32'
      ? (env['LOCALAPPDATA'] ?? join(home, 'AppData', 'Local'))
      : platform === 'darwin'
        ? join(home, 'Library', 'Caches')
        : (env['XDG_CACHE_HOME'] ?? join(home, '.cache'))
  return join(caches, 'escapement', 'compiled')
}
