import { dirname, relative, resolve } from 'node:path'
import { findConfig } from './findConfig.ts'
import type { LoadedConfig } from './readConfig.ts'
import type { CliHost } from '../cliHost.ts'
import type { Invocation } from '../commandLine.ts'

export type ConfigWish = Pick<Invocation, 'dir' | 'config' | 'noConfig'>

/**
 * Loads the configuration of a command: that of `--config`, or else that of its folder; `undefined` without one. Names it on standard
 * error if it was found elsewhere.
 *
 * @throws RuntimeError `INVALID_OPTION` with file and line of the mistake.
 */
export async function loadConfig(
  wish: ConfigWish,
  host: Pick<CliHost, 'cwd' | 'stderr'>,
): Promise<LoadedConfig | undefined> {
  const { dir = '.', config: named, noConfig } = wish
  if (noConfig) return undefined
  const folder = resolve(host.cwd(), dir)
  const file = named === undefined ? findConfig(folder) : resolve(host.cwd(), named)
  if (file === undefined) return undefined
  if (named === undefined && dirname(file) !== folder)
    host.stderr.write(`Configuration: ${relative(host.cwd(), file) || file}\n`)
  // Only now: most folders have none, and to read one takes what it may use.
  const { readConfig } = await import('./readConfig.ts')
  return readConfig(file)
}
