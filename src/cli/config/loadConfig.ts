import { readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import type { ToolEntry } from '../../actors/toolEntries.ts'
import { RuntimeError, withoutAdvice } from '../../protocol/errors.ts'
import { configTools } from './configTools.ts'
import { configSchema } from './configSchema.ts'
import type { Config } from '../../defineConfig.ts'
import { findConfig } from './findConfig.ts'
import { importModule } from '../../userFiles/importModule.ts'
import { wrongInFile } from '../../userFiles/wrongInFile.ts'
import type { CliHost } from '../cliHost.ts'
import { storePlace } from '../storePlace.ts'
import type { Invocation } from '../commandLine.ts'

/** A configuration that was found, checked. */
export interface LoadedConfig extends Omit<Config, 'store' | 'skills' | 'mcp'> {
  /** Those of `skills` and `mcp` too. */
  readonly tools: readonly ToolEntry[]
  readonly file: string
  /** The address of the store, absolute. */
  readonly logs?: string
}

export type ConfigWish = Pick<Invocation, 'dir' | 'config' | 'noConfig'>

/**
 * The configuration for a command: that of `--config`, else the one of the folder it works in; `undefined` without one. Names it on standard
 * error where it was found elsewhere.
 *
 * @throws RuntimeError `INVALID_OPTION` with file and line of what is wrong.
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
  return readConfig(file)
}

/** Loads and checks one. @throws RuntimeError `INVALID_OPTION` with file and line of what is wrong. */
export async function readConfig(file: string): Promise<LoadedConfig> {
  const exported = await importModule(file)
  if (!('default' in exported))
    throw new RuntimeError('INVALID_OPTION', `${file} has no default export: write export default defineConfig({ … }).`)
  const checked = configSchema().safeParse(exported['default'])
  if (!checked.success)
    throw new RuntimeError('INVALID_OPTION', wrongInFile(file, readFileSync(file, 'utf8'), checked.error))
  const { store, memory, skills: _, mcp: __, ...config } = exported['default'] as Config
  const folder = dirname(file)
  try {
    const tools = await configTools(exported['default'] as Config, folder)
    return {
      ...config,
      tools,
      file,
      ...(store === undefined ? {} : { logs: storePlace(store, folder).typed }),
      ...(memory === undefined ? {} : { memory: resolve(folder, memory) }),
    }
  } catch (thrown) {
    throw new RuntimeError('INVALID_OPTION', `${file}: ${withoutAdvice(thrown)}`, { cause: thrown })
  }
}
