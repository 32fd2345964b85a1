import type { LanguageModelV4FilePart, LanguageModelV4Message, LanguageModelV4ToolResultOutput } from '@ai-sdk/provider'
import { fileText, isTextual } from '../../../../src/protocol/text/fileText.ts'
import {
  isMedia,
  mediaText,
  type Block,
  type FileBlock,
  type MediaBlock,
  type ProviderBlock,
} from '../../../../src/protocol/messages.ts'
import type { ModelRequest, RequestMessage } from '../../../../src/protocol/ports/model.ts'
import type { CacheAsking } from './askForCache.ts'
import { fromProvided } from './providerParts.ts'
import { fromNextSignature, fromSignature, isNextSignature } from './providerData.ts'

/** Options for the prompt of one provider. */
export interface PromptOptions {
  /** The provider's family: its own tool calls and the like are sent back only to the same family. */
  readonly provider: string
  /** Way in which the provider is asked to cache the beginning of requests. */
  readonly cache: false | CacheAsking
  /** Place of images and PDFs of tool results: in the result, or in a user message after the results. */
  readonly toolImages: 'result' | 'user'
  /** Returns true if the provider accepts files of this type. Others are sent as their text, or named. Default: all. */
  readonly takes?: (mimeType: string) => boolean
}

type ToolResult = Extract<RequestMessage, { role: 'toolResult' }>
type UserMessage = Extract<LanguageModelV4Message, { role: 'user' }>
type AssistantMessage = Extract<LanguageModelV4Message, { role: 'assistant' }>

/** The provider's data of calls by id, which it also needs with their results, such as the program that called. */
type CallData = Map<string, NonNullable<ReturnType<typeof fromNextSignature>>>

/** Converts the messages of a request to an AI SDK prompt. Adjacent tool results become one `tool` message. Pure. */
export function toPrompt(request: ModelRequest, options: PromptOptions): LanguageModelV4Message[] {
  const prompt: LanguageModelV4Message[] = []
  if (request.system !== '') prompt.push({ role: 'system', content: request.system })
  let results: ToolResult[] = []
  const ofCalls: CallData = new Map()
  const flush = () => {
    if (results.length > 0) prompt.push(...toToolMessages(results, ofCalls, options))
    results = []
  }
  for (const message of request.messages) {
    if (message.role === 'toolResult') results.push(message)
    else {
      flush()
      if (message.role === 'user') prompt.push({ role: 'user', content: toUserContent(message.content, options) })
      else {
        const content = toAssistantContent(message.content, options.provider, ofCalls)
        if (content.length > 0) prompt.push({ role: 'assistant', content })
      }
    }
  }
  flush()
  return prompt
}

const toFile = (block: MediaBlock): LanguageModelV4FilePart => ({
  type: 'file',
  mediaType: block.mimeType ?? 'image',
  data: 'url' in block ? { type: 'url', url: new URL(block.url) } : { type: 'data', data: block.data },
  ...(block.type === 'file' && block.name !== undefined && { filename: block.name }),
})

const toUserContent = (content: readonly Block[], { takes }: PromptOptions): UserMessage['content'] =>
  content.flatMap((block): UserMessage['content'] => {
    if (block.type === 'text') return [{ type: 'text', text: block.text }]
    if (block.type === 'file' && takes?.(block.mimeType) === false) return [{ type: 'text', text: inWords(block) }]
    if (isDrawing(block)) return [{ type: 'text', text: inWords({ ...block, type: 'file' }) }]
    return isMedia(block) ? [toFile(block)] : []
  })

/** Returns true for an image type that is text, such as SVG, which no provider accepts as an image. */
const isDrawing = (block: Block): block is Extract<Block, { type: 'image'; data: string }> =>
  block.type === 'image' && 'data' in block && isTextual(block.mimeType)

/** Returns the text to send in place of a file that the provider does not accept. */
function inWords(file: FileBlock): string {
  const text = fileText(file)
  const what = mediaText(file).slice(1, -1)
  return text === undefined ? `[${what}, which this model cannot read]` : `[${what}]\n${text}`
}

/**
 * Thinking is always sent back: each provider package drops what its provider does not accept (Anthropic: unsigned thinking) and
 * sends what it does (OpenAI-compatible servers: `reasoning_content`, signed or not).
 */
function toAssistantContent(
  content: readonly Block[],
  provider: string,
  ofCalls: CallData,
): AssistantMessage['content'] {
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
    if (data !== undefined && block.type === 'toolCall') ofCalls.set(block.callId, data)
    carried = undefined
  }
  // What another provider did after it is not sent.
  while (parts.at(-1)?.type === 'reasoning') parts.pop()
  return parts
}

function toAssistantPart(block: Exclude<Block, ProviderBlock>): AssistantMessage['content'][number] {
  if (block.type === 'text') return { type: 'text', text: block.text }
  if (block.type === 'thinking') return { type: 'reasoning', text: block.text }
  if (isMedia(block)) return toFile(block)
  return { type: 'tool-call', toolCallId: block.callId, toolName: block.name, input: toInput(block.input) }
}

/** Wraps input that was not JSON in an object, like the Anthropic package, because providers accept only objects. */
const toInput = (input: unknown): unknown =>
  typeof input === 'object' && input !== null && !Array.isArray(input) ? input : { rawInvalidInput: input }

function toToolMessages(
  results: readonly ToolResult[],
  ofCalls: CallData,
  options: PromptOptions,
): LanguageModelV4Message[] {
  const content = results.map((result) => {
    const data = ofCalls.get(result.callId)
    return {
      type: 'tool-result' as const,
      toolCallId: result.callId,
      toolName: result.toolName,
      output: toOutput(result, options),
      ...(data !== undefined && { providerOptions: data }),
    }
  })
  const apart = results.flatMap((result) => toPartsApart(result, options))
  const tool: LanguageModelV4Message = { role: 'tool', content }
  return apart.length > 0 ? [tool, { role: 'user', content: apart }] : [tool]
}

/** Returns true if a result may contain this block. No provider's format allows images in an error result, or files other than PDFs in any result. */
const goesApart = (block: Block, { isError }: ToolResult, toolImages: 'result' | 'user'): boolean =>
  isMedia(block) &&
  (isError || toolImages === 'user' || (block.type === 'file' && block.mimeType !== 'application/pdf'))

function toPartsApart(result: ToolResult, options: PromptOptions): UserMessage['content'] {
  const media = result.content.filter((block) => goesApart(block, result, options.toolImages))
  if (media.length === 0) return []
  const what = media.every(({ type }) => type === 'image') ? 'Images' : 'Files'
  const intro = `${what} from the result of ${result.toolName} (call ${result.callId}):`
  return [{ type: 'text', text: intro }, ...toUserContent(media, options)]
}

/** Puts each block on its own line, so that no block continues the last line of the previous one. */
const joined = (content: readonly Block[]): string =>
  content.flatMap((block) => (block.type === 'text' ? block.text : [])).join('\n')

function toOutput(result: ToolResult, options: PromptOptions): LanguageModelV4ToolResultOutput {
  const inside = result.content.filter((block) => !goesApart(block, result, options.toolImages))
  if (inside.some(isMedia)) return { type: 'content', value: toUserContent(inside, options) }
  const value = joined(inside) || (result.content.some(isMedia) ? 'The result is in the next message.' : '')
  return { type: result.isError ? 'error-text' : 'text', value }
}
