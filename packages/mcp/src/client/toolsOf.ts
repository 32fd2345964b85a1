import type { AgentPorts } from '../../../../src/actors/agentPorts.ts'
import type { BoundCall } from '../../../../src/actors/tools/boundCall.ts'
import { defineTool } from '../../../schemas/src/defineTool.ts'
import type { Tool, ToolContext, ToolEffects } from '../../../../src/actors/tools/defineTool.ts'
import { withinChars } from '../../../tools/src/foreign/withinChars.ts'
import type { SaidBlock } from '../../../../src/protocol/text/saidContent.ts'
import { appOf, isForApps } from './apps.ts'
import type { ServerCall } from './callServer.ts'
import type { InputChecks } from './inputSchemas.ts'
import type { ListedTool } from './listTools.ts'
import type { McpSettings } from './options.ts'
import { createHash } from 'node:crypto'
import { toolName } from '../../../../src/actors/tools/toolName.ts'

/** Returns a name with a fingerprint of the server's own name. */
const marked = (name: string, own: string): string =>
  `${name.slice(0, 57)}_${createHash('sha256').update(own).digest('hex').slice(0, 6)}`

/**
 * Returns the names of a server's tools as models get them, by the server's own names. A tool's name does not depend on the
 * order of the list: if names would collide, one that needed no change stays, and the others get a fingerprint. Pure.
 */
function toolNames(names: readonly string[], prefix = ''): ReadonlyMap<string, string> {
  const shared = new Map<string, number>()
  for (const name of new Set(names)) {
    const plain = toolName(`${prefix}${name}`)
    shared.set(plain, (shared.get(plain) ?? 0) + 1)
  }
  return new Map(
    names.map((name) => {
      const plain = toolName(`${prefix}${name}`)
      const isOwn = plain === `${prefix}${name}` || shared.get(plain) === 1
      return [name, isOwn ? plain : marked(plain, name)]
    }),
  )
}

/** Runs a tool's call: at once, or as a task with records in the log. */
export interface Calling {
  readonly now: (call: ServerCall, context: ToolContext) => Promise<readonly SaidBlock[]>
  readonly asTask: (call: ServerCall, context: ToolContext) => BoundCall<AgentPorts>
}

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

/** Returns true if all calls of a tool wait for approval, or a function that decides for each. Pure. */
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

/** Number of schemas that are read at a time, so that a thousand do not block the process. */
const atOnce = 20

/** Returns a server's tools as tools of an agent. */
export async function toolsOf(
  listed: readonly ListedTool[],
  settings: McpSettings,
  checks: InputChecks,
  calling: Calling,
): Promise<MadeTools> {
  const wanted = listed.filter((tool) => isWanted(settings, tool.name) && !isForApps(tool))
  const prefix = settings.prefix === 'always' ? `${settings.name}_` : ''
  const names = toolNames(
    wanted.map(({ name }) => name),
    prefix,
  )
  const tools: Tool[] = []
  const trouble: string[] = []
  for (const [index, tool] of wanted.entries()) {
    if (index % atOnce === atOnce - 1) await new Promise((resolve) => void setImmediate(resolve))
    const { parse, shown: schema, unchecked } = checks.of(tool.inputSchema)
    const inputSchema = withinChars(schema, settings.maxSchemaChars)
    const chars = JSON.stringify(inputSchema).length
    if (chars > settings.maxSchemaChars) {
      trouble.push(
        `tool ${JSON.stringify(tool.name)}: its schema has ${chars} characters, more than "maxSchemaChars" (${settings.maxSchemaChars})`,
      )
      continue
    }
    if (unchecked !== undefined)
      trouble.push(`tool ${JSON.stringify(tool.name)}: only the server checks its arguments, since ${unchecked}`)
    const shown = names.get(tool.name)!
    const effects = effectsOf(settings, tool)
    const call = tool.isTask ? calling.asTask : calling.now
    const app = settings.apps === true ? appOf(tool) : undefined
    const mayRepeat = effects === 'none' || effects === 'idempotent'
    const made = defineTool({
      name: shown,
      description: descriptionOf(tool),
      input: { jsonSchema: { type: 'object' } },
      effects,
      needsApproval: approvalOf(settings, tool),
      timeoutMs: settings.callMs,
      run: (input, context) =>
        call({ name: tool.name, schema: tool.inputSchema, input, shown, mayRepeat, app }, context),
    })
    tools.push(Object.freeze({ ...made, inputSchema: Object.freeze(inputSchema), parse }))
  }
  return { tools, trouble }
}
