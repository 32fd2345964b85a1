import { resolve } from 'node:path'
import { skillTools } from '../../actors/skills/skillTools.ts'
import type { ToolEntries, ToolEntry } from '../../actors/toolEntries.ts'
import type { Config } from '../../defineConfig.ts'

/**
 * All tools and sources of tools that a configuration has, made once: agents that are given the same source share its connection. `folder` is that of
 * the file. Rejects with what `skillTools` and `mcpTools` throw.
 */
export async function configTools(
  { tools = [], skills, mcp = {} }: Config,
  folder: string,
): Promise<readonly ToolEntry[]> {
  const servers = Object.entries(mcp)
  const mcpTools = servers.length === 0 ? undefined : (await import('../../mcp/mcpTools.ts')).mcpTools
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
