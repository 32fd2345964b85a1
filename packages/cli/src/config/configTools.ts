import { resolve } from 'node:path'
import { skillTools } from '../../../tools/src/skills/skillTools.ts'
import type { ToolEntries, ToolEntry } from '../../../../src/actors/define/toolEntries.ts'
import type { Config } from '../defineConfig.ts'

/**
 * Creates all tools and sources of tools of a configuration once: agents that are given the same source share its connection. `folder`: the folder of
 * the configuration file. Rejects with the errors of `skillTools` and `mcpTools`.
 */
export async function configTools(
  { tools = [], skills, mcp = {} }: Config,
  folder: string,
): Promise<readonly ToolEntry[]> {
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
