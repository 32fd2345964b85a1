import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ToolEntry, ToolEntries } from '../../../../src/actors/define/toolEntries.ts'
import { RuntimeError, withoutAdvice } from '../../../../src/protocol/errors.ts'
import type { Config } from '../defineConfig.ts'
import { importModule } from '../../../tools/src/userFiles/importModule.ts'
import { wrongInFile } from '../../../tools/src/userFiles/wrongInFile.ts'
import { storePlace } from './storePlace.ts'
import { configSchema } from './configSchema.ts'
import { skillTools } from '../../../tools/src/skills/skillTools.ts'

/**
 * Creates all tools and tool sources of a configuration once, so that agents with the same source share its connection. `folder`: that of
 * the configuration file. Rejects with the errors of `skillTools` and `mcpTools`.
 */
async function configTools({ tools = [], skills, mcp = {} }: Config, folder: string): Promise<readonly ToolEntry[]> {
  const servers = Object.entries(mcp)
  const mcpTools = servers.length === 0 ? undefined : (await import('../../../mcp/src/client/mcpTools.ts')).mcpTools
  return [
    ...(isList(tools) ? tools : [tools]),
    ...(skills === undefined ? [] : [skillTools(skills.map((place) => resolve(folder, place)))]),
    ...servers.map(([name, { cwd = '.', ...server }]) => {
      const place = server.command === undefined ? {} : { cwd: resolve(folder, cwd) }
      return mcpTools!({ ...server, ...place, name })
    }),
  ]
}

const isList = (tools: ToolEntries): tools is readonly ToolEntry[] => Array.isArray(tools)

/** A loaded and checked configuration. */
export interface LoadedConfig extends Omit<Config, 'store' | 'skills' | 'mcp'> {
  /** All tools, including those of `skills` and `mcp`. */
  readonly tools: readonly ToolEntry[]
  readonly file: string
  /** Absolute address of the store. */
  readonly logs?: string
}

/** Loads and checks a configuration. @throws RuntimeError `INVALID_OPTION` with file and line of the mistake. */
export async function readConfig(file: string): Promise<LoadedConfig> {
  const exported = await importModule(file)
  if (!('default' in exported))
    throw new RuntimeError('INVALID_OPTION', `${file} has no default export: write export default defineConfig({ … }).`)
  const checked = configSchema().safeParse(exported['default'], { reportInput: true })
  if (!checked.success)
    throw new RuntimeError(
      'INVALID_OPTION',
      wrongInFile(file, readFileSync(file, 'utf8'), checked.error).replace(
        ofAnotherCopy,
        (said) => said + copies(file),
      ),
    )
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

const ofAnotherCopy = 'made by another copy of escapement'

/** Describes where the package copy imported by a file is, and where the running one is; empty if either is unknown. */
function copies(file: string): string {
  const [theirs, own] = [folderOf('escapement', pathToFileURL(file)), folderOf('.', import.meta.url)]
  return theirs === undefined || own === undefined ? '' : ` (${theirs}; this one is ${own})`
}

function folderOf(name: string, from: string | URL): string | undefined {
  try {
    const found = findPackageJSON(name, from)
    return found === undefined ? undefined : dirname(found)
  } catch {
    return undefined
  }
}
