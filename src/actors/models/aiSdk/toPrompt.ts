import type { LanguageModelV4FilePart, LanguageModelV4Message, LanguageModelV4ToolResultOutput } from '@ai-sdk/provider'
import type { Block, ProviderBlock } from '../../../protocol/messages.ts'
import type { ModelRequest, RequestMessage } from '../../../protocol/model.ts'
import { fromProvided } from './providerParts.ts'
import { fromNextSignature, fromSignature, isNextSignature } from './providerData.ts'

/** How a prompt is written for one provider. */
export interface PromptOptions {
  /** The family of the provider: only to itself goes back what it did by itself. */
  readonly provider: string
  /** Marks the end of the instructions as a place to cache up to. */
  readonly cache: boolean
  /** Where images of tool results go: into the result, or into a user message after the results. */
  readonly toolImages: 'result' | 'user'
}

type ToolResult = Extract<RequestMessage, { role: 'toolResult' }>
type UserMessage = Extract<LanguageModelV4Message, { role: 'user' }>
type AssistantMessage = Extract<LanguageModelV4Message, { role: 'assistant' }>
type ImageBlock = Extract<Block, { type: 'image' }>

/** The messages of a request as an AI SDK prompt; adjacent tool results become one `tool` message. Pure. */
export function toPrompt(request: ModelRequest, options: PromptOptions): LanguageModelV4Message[] {
  const prompt: LanguageModelV4Message[] = []
  if (request.system !== '') prompt.push(toSystem(request.system, options.cache))
  let results: ToolResult[] = []
  const flush = () => {
    if (results.length > 0) prompt.push(...toToolMessages(results, options.toolImages))
    results = []
  }
  for (const message of request.messages) {
    if (message.role === 'toolResult') results.push(message)
    else {
      flush()
      if (message.role === 'user') prompt.push({ role: 'user', content: toUserContent(message.content) })
      else {
        const content = toAssistantContent(message.content, options.provider)
        if (content.length > 0) prompt.push({ role: 'assistant', content })
      }
    }
  }
  flush()
  return prompt
}

const toSystem = (content: string, cache: boolean): LanguageModelV4Message => ({
  role: 'system',
  content,
  ...(cache && { providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } }),
})

const toFile = (image: ImageBlock): LanguageModelV4FilePart => ({
  type: 'file',
  mediaType: image.mimeType,
  data: { type: 'data', data: image.data },
})

const imagesOf = (content: readonly Block[]): ImageBlock[] => content.filter((block) => block.type === 'image')

const toUserContent = (content: readonly Block[]): UserMessage['content'] =>
  content.flatMap((block): UserMessage['content'] => {
    if (block.type === 'text') return [{ type: 'text', text: block.text }]
    return block.type === 'image' ? [toFile(block)] : []
  })

/**
 * Thinking always goes back: a provider package drops what its provider does not take (Anthropic: thinking without its
 * signature) and sends what it does (OpenAI-compatible servers: `reasoning_content`, with or without a signature).
 */
function toAssistantContent(content: readonly Block[], provider: string): AssistantMessage['content'] {
  const parts: AssistantMessage['content'] = []
  let carried: ReturnType<typeof fromNextSignature>
  for (const block of content) {
    if (block.type === 'thinking' && isNextSignature(block.signature)) {
      carried = fromNextSignature(block.signature)
      continue
    }
    if (block.type === 'provider') {
      const part = fromProvided(block, provider)
      if (part !== undefined) parts.push(part)
      continue
    }
    const data = block.type === 'thinking' ? fromSignature(block.signature) : carried
    const part = toAssistantPart(block)
    parts.push(data === undefined ? part : { ...part, providerOptions: data })
    carried = undefined
  }
  return parts
}

function toAssistantPart(block: Exclude<Block, ProviderBlock>): AssistantMessage['content'][number] {
  if (block.type === 'text') return { type: 'text', text: block.text }
  if (block.type === 'thinking') return { type: 'reasoning', text: block.text }
  if (block.type === 'image') return toFile(block)
  return { type: 'tool-call', toolCallId: block.callId, toolName: block.name, input: toInput(block.input) }
}

/** Providers take only an object; what was not JSON is shown to the model in the way the Anthropic package does it. */
const toInput = (input: unknown): unknown =>
  typeof input === 'object' && input !== null && !Array.isArray(input) ? input : { rawInvalidInput: input }

function toToolMessages(results: readonly ToolResult[], toolImages: 'result' | 'user'): LanguageModelV4Message[] {
  const content = results.map((result) => ({
    type: 'tool-result' as const,
    toolCallId: result.callId,
    toolName: result.toolName,
    output: toOutput(result, toolImages),
  }))
  const apart = results.filter((result) => goApart(result, toolImages)).flatMap(toImageParts)
  const tool: LanguageModelV4Message = { role: 'tool', content }
  return apart.length > 0 ? [tool, { role: 'user', content: apart }] : [tool]
}

/** An error result has no room for images in any provider's format. */
const goApart = (result: ToolResult, toolImages: 'result' | 'user'): boolean =>
  imagesOf(result.content).length > 0 && (result.isError || toolImages === 'user')

const toImageParts = (result: ToolResult): UserMessage['content'] => [
  { type: 'text', text: `Images from the result of ${result.toolName} (call ${result.callId}):` },
  ...imagesOf(result.content).map(toFile),
]

/** Blocks are lines of their own: what one ends with does not go on in the next. */
const joined = (content: readonly Block[]): string =>
  content.flatMap((block) => (block.type === 'text' ? block.text : [])).join('\n')

function toOutput(result: ToolResult, toolImages: 'result' | 'user'): LanguageModelV4ToolResultOutput {
  const images = imagesOf(result.content)
  if (images.length === 0 || goApart(result, toolImages)) {
    const value = joined(result.content) || (images.length > 0 ? 'The result is in the next message.' : '')
    return { type: result.isError ? 'error-text' : 'text', value }
  }
  return {
    type: 'content',
    value: toUserContent(result.content),
  }
}
