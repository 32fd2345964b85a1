import type { ReplyFailure } from '../machines/effectTypes.ts'
import { isMedia, mediaText, type Block } from '../protocol/messages.ts'
import type { ModelRequest } from '../protocol/model.ts'

/** A request without what its provider named when it refused it, and what that was, in words. */
export interface WithoutRefused {
  readonly request: ModelRequest
  readonly what: string
}

type Leaves = (request: ModelRequest, named: RegExpExecArray) => ModelRequest

/** The blocks of all messages, of which `change` gives others or none. */
const withBlocks =
  (change: (block: Block) => Block | undefined): Leaves =>
  (request) => {
    let isChanged = false
    const messages = request.messages.map((message) => {
      const content = message.content.flatMap((block) => change(block) ?? [])
      if (content.length === message.content.length && content.every((block, at) => block === message.content[at]))
        return message
      // A reply of nothing else stays as it is.
      if (content.length === 0) return message
      isChanged = true
      return { ...message, content }
    })
    return isChanged ? { ...request, messages } : request
  }

const inWords = (block: Extract<Block, { type: 'image' | 'file' }>): Block => ({
  type: 'text',
  text: `[${mediaText(block).slice(1, -1)}: left out, as the provider refused it]`,
})

/** Takes the schema of a tool out, by its index or its name: the tool checks its arguments itself. */
const withoutSchema: Leaves = (request, { groups }) => {
  const isNamed = (tool: { readonly name: string }, at: number): boolean =>
    groups?.['index'] === undefined ? tool.name === groups?.['name'] : at === Number(groups['index'])
  if (!request.tools.some(isNamed)) return request
  const tools = request.tools.map((tool, at) =>
    isNamed(tool, at) ? { ...tool, inputSchema: { type: 'object' } } : tool,
  )
  return { ...request, tools }
}

const withoutFormat: Leaves = (request) => {
  const { responseFormat, ...settings } = request.settings
  return responseFormat === undefined ? request : { ...request, settings }
}

/** The parts that a refusal names, in the words of providers, and how the request is without it. The first that changes something counts. */
const parts: readonly (readonly [what: string, named: RegExp, leaves: Leaves])[] = [
  ['the schema of a tool', /\btools?[.[](?<index>\d+)/, withoutSchema],
  ['the schema of a tool', /\bschema for (?:function|tool) ['"`]?(?<name>[\w-]+)/i, withoutSchema],
  [
    'the schema of the answer',
    /\b(response_format|text\.format|output_format|output_config|json_schema)\b/i,
    withoutFormat,
  ],
  [
    'images',
    /\bimages?\b|\bmedia_type\b|image_url/i,
    withBlocks((block) => (block.type === 'image' ? inWords(block) : block)),
  ],
  [
    'files',
    /\b(pdf|document|file|audio|media)s?\b|\binput_(file|audio)\b/i,
    withBlocks((block) => (isMedia(block) ? inWords(block) : block)),
  ],
  [
    'thinking',
    /\bthinking\b|\bsignature\b|\breasoning\b/i,
    withBlocks((block) => (block.type === 'thinking' ? undefined : block)),
  ],
  [
    'what the provider did by itself',
    /\b(server_tool_use|web_search|web_fetch|code_execution|code_interpreter|mcp_tool_use)/i,
    withBlocks((block) => (block.type === 'provider' ? undefined : block)),
  ],
]

/** The request without what the provider refused by name; `undefined` when it named nothing that can be left out. Pure. */
export function withoutRefused(request: ModelRequest, { kind, error }: ReplyFailure): WithoutRefused | undefined {
  if (kind !== 'badRequest') return undefined
  for (const [what, pattern, leaves] of parts) {
    const named = pattern.exec(error.message)
    const without = named === null ? request : leaves(request, named)
    if (without !== request) return { request: without, what }
  }
  return undefined
}
