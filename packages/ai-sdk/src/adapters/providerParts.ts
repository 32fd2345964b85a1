import type {
  JSONValue,
  LanguageModelV4Citation,
  LanguageModelV4CustomContent,
  LanguageModelV4File,
  LanguageModelV4Message,
  LanguageModelV4ReasoningFile,
  LanguageModelV4Source,
  LanguageModelV4ToolCall,
  LanguageModelV4ToolResult,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider'
import { cloneJson } from '../../../../src/protocol/checks/cloneJson.ts'
import type { ProviderBlock } from '../../../../src/protocol/messages.ts'
import type { ModelRequest } from '../../../../src/protocol/ports/model.ts'

type PromptPart = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'][number]
type FilePart = LanguageModelV4File | LanguageModelV4ReasoningFile

/** Parts of a reply for actions of the provider itself, such as its own tool calls. */
export type ProvidedPart =
  | LanguageModelV4ToolCall
  | LanguageModelV4ToolResult
  | LanguageModelV4Source
  | FilePart
  | LanguageModelV4CustomContent

const readers: {
  readonly [T in ProvidedPart['type']]: (
    part: Extract<ProvidedPart, { type: T }>,
  ) => Pick<ProviderBlock, 'kind' | 'name' | 'data'>
} = {
  'tool-call': ({ toolCallId, toolName, input, providerMetadata }) => ({
    kind: 'call',
    name: toolName,
    data: {
      type: 'tool-call',
      toolCallId,
      toolName,
      input: parseInput(input),
      providerExecuted: true,
      ...optionsOf(providerMetadata),
    },
  }),
  'tool-result': ({ toolCallId, toolName, result, isError, providerMetadata }) => ({
    kind: 'result',
    name: toolName,
    data: {
      type: 'tool-result',
      toolCallId,
      toolName,
      output: { type: isError === true ? 'error-json' : 'json', value: result satisfies JSONValue },
      ...optionsOf(providerMetadata),
    },
  }),
  source: (part) => ({ kind: 'source', name: nameOf(part), data: part }),
  file: (part) => fileOf(part),
  'reasoning-file': (part) => fileOf(part),
  custom: ({ kind, providerMetadata }) => ({
    kind: 'other',
    name: kind,
    data: { type: 'custom', kind, ...optionsOf(providerMetadata) },
  }),
}

/** Returns a block for such a part, in the form in which it goes back into a prompt. */
export const toProvided = (part: ProvidedPart, provider: string): ProviderBlock => {
  const read = readers[part.type] as (part: ProvidedPart) => Pick<ProviderBlock, 'kind' | 'name' | 'data'>
  const { kind, name, data } = read(part)
  return { type: 'provider', provider, kind, name, data: cloneJson(data) }
}

/** Returns a block for a source cited in a text, with the position of the citation. */
export const toCited = (citation: LanguageModelV4Citation, provider: string): ProviderBlock => ({
  type: 'provider',
  provider,
  kind: 'source',
  name: nameOf(citation.source),
  data: cloneJson(citation),
})

/** Returns the prompt part stored in a block; `undefined` if it is another provider's or has no use in a prompt. */
export function fromProvided({ provider, kind, data }: ProviderBlock, to: string): PromptPart | undefined {
  if (provider !== to || kind === 'source' || typeof data !== 'object' || data === null) return undefined
  const part = data as PromptPart
  if (kind !== 'file') return part
  const file = part as { data: { type: string; url?: string } }
  // JSON has no URLs.
  return file.data.type === 'url' ? ({ ...file, data: { ...file.data, url: new URL(file.data.url!) } } as never) : part
}

/** Returns warnings about blocks of other providers, which cannot be sent to this one. */
export function notSent({ messages }: ModelRequest, to: string): string[] {
  const foreign = new Set<string>()
  for (const { content } of messages) {
    for (const block of content) if (block.type === 'provider' && block.provider !== to) foreign.add(block.provider)
  }
  return [...foreign].map((provider) => `What ${provider} did by itself in this conversation is not sent to ${to}.`)
}

const nameOf = (source: LanguageModelV4Source): string =>
  source.title ?? (source.sourceType === 'url' ? source.url : (source.filename ?? source.mediaType))

const optionsOf = (data: SharedV4ProviderMetadata | undefined): { providerOptions?: SharedV4ProviderMetadata } =>
  data === undefined ? {} : { providerOptions: data }

function fileOf({ type, mediaType, data, providerMetadata }: FilePart): Pick<ProviderBlock, 'kind' | 'name' | 'data'> {
  const kept = data.type === 'url' ? { ...data, url: String(data.url) } : { type: 'data', data: toBase64(data.data) }
  return { kind: 'file', name: mediaType, data: { type, mediaType, data: kept, ...optionsOf(providerMetadata) } }
}

/** Converts bytes to a form that JSON can hold. */
export const toBase64 = (data: Uint8Array | string): string =>
  typeof data === 'string' ? data : Buffer.from(data).toString('base64')

/** Parses a call's arguments as JSON. Returns the text itself if it is not JSON, so that the tool layer can tell the model. */
export function parseInput(text: string): unknown {
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
