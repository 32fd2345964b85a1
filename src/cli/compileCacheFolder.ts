import { homedir } from 'node:os'
import { join } from 'node:path'

/**
 * Where what Node has compiled of the command line is kept: in the user's own folder for caches. What is in it is run, and in the one for temporary
 * files, which Node would take, others may write.
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
