import { z } from 'zod'
import { defineTool, type Tool, type ToolContext } from '../../../../src/actors/tools/defineTool.ts'
import type { SaidBlock } from '../../../../src/protocol/text/saidContent.ts'
import { listAll } from './listTools.ts'
import type { McpSettings } from './options.ts'
import { readBlock, readContents } from './resultBlocks.ts'
import type { Server } from './server.ts'

/** Runs work with the server while it is up. Rejects with an error that a model can read. */
export type WithServer = <T>(
  context: Pick<ToolContext, 'signal'>,
  use: (server: Server, options: { readonly signal: AbortSignal; readonly timeout: number }) => Promise<T>,
) => Promise<T>

const entrySchema = z.looseObject({
  name: z.string().optional().catch(undefined),
  uri: z.string().optional().catch(undefined),
  uriTemplate: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  arguments: z
    .array(z.looseObject({ name: z.string(), required: z.boolean().optional() }))
    .optional()
    .catch(undefined),
})

function lineOf(entry: unknown): string {
  const { name, uri, uriTemplate, description, arguments: args = [] } = entrySchema.catch({}).parse(entry)
  const fields = args.map((arg) => (arg.required === true ? arg.name : `${arg.name}?`)).join(', ')
  const head = [uri ?? uriTemplate, name].filter((part) => part !== undefined).join(' ')
  return `- ${head}${fields === '' ? '' : `(${fields})`}${description === undefined ? '' : `: ${description.slice(0, 500)}`}`
}

const listed = (entries: readonly unknown[], what: string): string =>
  entries.length === 0 ? `The server has no ${what}.` : entries.map(lineOf).join('\n')

/** Returns the tools for a server's resources and prompts, as far as the options ask for them and the server has them. */
export function resourceTools(server: Server, settings: McpSettings, using: WithServer): readonly Tool[] {
  const has = server.client.getServerCapabilities()
  return [
    ...(settings.resources === true && has?.resources !== undefined ? forResources(settings, using) : []),
    ...(settings.prompts === true && has?.prompts !== undefined ? forPrompts(settings, using) : []),
  ]
}

/** Options that all these tools share: they only read. */
const readOnly = ({ approve, callMs }: McpSettings) =>
  ({ effects: 'none', needsApproval: approve === 'all', timeoutMs: callMs }) as const

function forResources(settings: McpSettings, using: WithServer): readonly Tool[] {
  const { name } = settings
  return [
    defineTool({
      ...readOnly(settings),
      name: `${name}_list_resources`,
      description: `Lists the resources of "${name}", and templates of their addresses. Read one with ${name}_read_resource.`,
      input: z.object({}),
      run: (_, context) =>
        using(context, async (server, options) => {
          const { client } = server
          const resources = await listAll(client, 'resources/list', 'resources', options)
          const templates = await listAll(client, 'resources/templates/list', 'resourceTemplates', options).catch(
            () => ({
              entries: [],
            }),
          )
          return listed(server.clean([...resources.entries, ...templates.entries]), 'resources')
        }),
    }),
    defineTool({
      ...readOnly(settings),
      name: `${name}_read_resource`,
      description: `Reads a resource of "${name}" by its address.`,
      input: z.object({ uri: z.string() }),
      run: ({ uri }, context) =>
        using(context, async (server, options) => {
          const schema = z.looseObject({ contents: z.array(z.unknown()) })
          const { contents } = await server.client.request(
            { method: 'resources/read', params: { uri } },
            schema,
            options,
          )
          return readContents(server.clean(contents))
        }),
    }),
  ]
}

const promptSchema = z.looseObject({
  description: z.string().optional().catch(undefined),
  messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })),
})

function forPrompts(settings: McpSettings, using: WithServer): readonly Tool[] {
  const { name } = settings
  return [
    defineTool({
      ...readOnly(settings),
      name: `${name}_list_prompts`,
      description: `Lists the prompts of "${name}", prepared instructions for tasks. Get one with ${name}_get_prompt.`,
      input: z.object({}),
      run: (_, context) =>
        using(context, async (server, options) => {
          const { entries } = await listAll(server.client, 'prompts/list', 'prompts', options)
          return listed(server.clean(entries), 'prompts')
        }),
    }),
    defineTool({
      ...readOnly(settings),
      name: `${name}_get_prompt`,
      description: `Gets a prompt of "${name}" by its name, filled in with arguments.`,
      input: z.object({ name: z.string(), arguments: z.record(z.string(), z.string()).default({}) }),
      run: (input, context) =>
        using(context, async (server, options) => {
          const params = { name: input.name, arguments: input.arguments }
          const { messages } = await server.client.request({ method: 'prompts/get', params }, promptSchema, options)
          return server
            .clean(messages)
            .flatMap(({ role, content }): SaidBlock[] => [
              { type: 'text', text: `[${role}]` },
              ...(Array.isArray(content) ? content : [content]).flatMap(readBlock),
            ])
        }),
    }),
  ]
}
