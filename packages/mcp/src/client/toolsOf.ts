import { defineTool, type Tool, type ToolContext, type ToolEffects } from '../../../../src/actors/tools/defineTool.ts'
import { withinChars } from '../../../tools/src/foreign/withinChars.ts'
import type { SaidBlock } from '../../../../src/protocol/text/saidContent.ts'
import type { ServerCall } from './callServer.ts'
import type { InputChecks } from './inputSchemas.ts'
import type { ListedTool } from './listTools.ts'
import type { McpSettings } from './options.ts'
import { toolNames } from './toolNames.ts'

export type Call = (call: ServerCall, context: ToolContext) => Promise<readonly SaidBlock[]>

const matches = (name: string, patterns: readonly (string | RegExp)[]): boolean =>
  patterns.some((pattern) => (typeof pattern === 'string' ? pattern === name : new RegExp(pattern).test(name)))

/** Returns true if the settings include a tool. Pure. */
export const isWanted = ({ include, exclude = [] }: McpSettings, name: string): boolean =>
  (include === undefined || matches(name, include)) && !matches(name, exclude)

/** Returns the effects that the application states for a tool. */
const effectsSaid = ({ effects }: McpSettings, { name }: ListedTool): ToolEffects | undefined =>
  effects !== undefined && Object.hasOwn(effects, name) ? effects[name] : undefined

/** Returns the effects of a tool: as the application states, else as a trusted server states, else `'irreversible'`. Pure. */
export function effectsOf(settings: McpSettings, tool: ListedTool): ToolEffects {
  const said = effectsSaid(settings, tool)
  if (said !== undefined) return said
  const { annotations } = tool
  if (settings.trust !== true) return 'irreversible'
  if (annotations?.readOnlyHint === true) return 'none'
  return annotations?.idempotentHint === true ? 'idempotent' : 'irreversible'
}

/** Returns which of a tool's calls wait for an approval. Pure. */
export function approvalOf(settings: McpSettings, tool: ListedTool): boolean | ((input: unknown) => boolean) {
  const { approve } = settings
  if (typeof approve === 'function') return (input) => approve(tool.name, input as { readonly [name: string]: unknown })
  if (approve !== 'writes') return approve === 'all'
  const said = effectsSaid(settings, tool)
  return said === undefined ? tool.annotations?.readOnlyHint !== true : said !== 'none'
}

const mostDescriptionChars = 8_000

export const descriptionOf = ({ name, title, description, annotations }: ListedTool): string =>
  (description?.trim() || title || annotations?.title || name || 'A tool.').slice(0, mostDescriptionChars)

export interface MadeTools {
  readonly tools: readonly Tool[]
  readonly trouble: readonly string[]
}

/** Number of schemas read at a time, so that a thousand do not block the process. */
const atOnce = 20

/** Returns a server's tools as tools of an agent. */
export async function toolsOf(
  listed: readonly ListedTool[],
  settings: McpSettings,
  checks: InputChecks,
  call: Call,
): Promise<MadeTools> {
  const wanted = listed.filter(({ name }) => isWanted(settings, name))
  const prefix = settings.prefix === 'always' ? `${settings.name}_` : ''
  const names = toolNames(
    wanted.map(({ name }) => name),
    prefix,
  )
  const tools: Tool[] = []
  const trouble: string[] = []
  for (const [index, tool] of wanted.entries()) {
    if (index % atOnce === atOnce - 1) await new Promise((resolve) => void setImmediate(resolve))
    const { parse, shown, unchecked } = checks.of(tool.inputSchema)
    const inputSchema = withinChars(shown, settings.maxSchemaChars)
    const chars = JSON.stringify(inputSchema).length
    if (chars > settings.maxSchemaChars) {
      trouble.push(
        `tool ${JSON.stringify(tool.name)}: its schema has ${chars} characters, more than "maxSchemaChars" (${settings.maxSchemaChars})`,
      )
      continue
    }
    if (unchecked !== undefined)
      trouble.push(`tool ${JSON.stringify(tool.name)}: only the server checks its arguments, since ${unchecked}`)
    const made = defineTool({
      name: names.get(tool.name)!,
      description: descriptionOf(tool),
      input: { jsonSchema: { type: 'object' } },
      effects: effectsOf(settings, tool),
      needsApproval: approvalOf(settings, tool),
      timeoutMs: settings.callMs,
      run: (input, context) => call({ name: tool.name, schema: tool.inputSchema, input }, context),
    })
    tools.push(Object.freeze({ ...made, inputSchema: Object.freeze(inputSchema), parse }))
  }
  return { tools, trouble }
}
