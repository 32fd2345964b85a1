import type {
  LanguageModelV4File,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider'
import type { Block, Usage } from '../../../protocol/messages.ts'
import type { ModelPart, ReplyStopReason } from '../../../protocol/model.ts'
import { mergeData, toNextSignature, toSignature } from './providerData.ts'
import { readError } from './readError.ts'

interface Written {
  readonly type: 'text' | 'thinking'
  text: string
  data?: SharedV4ProviderMetadata | undefined
}
interface Called {
  readonly type: 'toolCall'
  readonly callId: string
  name: string
  /** Missing until the call is complete. */
  input?: string
  data?: SharedV4ProviderMetadata | undefined
}
type Draft = Written | Called | Extract<Block, { type: 'image' }>
type PartOf<T extends LanguageModelV4StreamPart['type']> = Extract<LanguageModelV4StreamPart, { type: T }>

/** Folds the parts of one AI SDK stream into the parts of the `Model` port. */
export interface ReplyReader {
  /** What a part says to the port: a delta, a terminal `error`, or nothing. */
  read(part: LanguageModelV4StreamPart): ModelPart | undefined
  /** Whether the provider has said how the reply ended. */
  readonly isFinished: boolean
  /** The terminal part once the stream has ended. */
  end(): ModelPart
}

/**
 * Reads one reply. Contract: blocks keep the order in which they started; tool calls run by the provider itself, sources
 * and parts of unknown type are left out; an image the model made becomes an image block.
 */
export function createReplyReader(): ReplyReader {
  const drafts: Draft[] = []
  const open = { text: new Map<string, Written>(), thinking: new Map<string, Written>() }
  const calls = new Map<string, Called>()
  const ignored = new Set<string>()
  let finish: PartOf<'finish'> | undefined

  const start = (type: Written['type'], id: string): Written => {
    const draft: Written = { type, text: '' }
    drafts.push(draft)
    open[type].set(id, draft)
    return draft
  }

  const begin = (type: Written['type'], part: PartOf<'text-start' | 'reasoning-start'>): undefined => {
    start(type, part.id).data = part.providerMetadata
  }

  const append = (type: Written['type'], part: PartOf<'text-delta' | 'reasoning-delta'>): ModelPart | undefined => {
    const draft = open[type].get(part.id) ?? start(type, part.id)
    draft.text += part.delta
    if (part.providerMetadata !== undefined) draft.data = mergeData(draft.data, part.providerMetadata)
    return part.delta === '' ? undefined : { type: `${type}.delta`, text: part.delta }
  }

  const startCall = (callId: string, name: string): Called => {
    const draft: Called = { type: 'toolCall', callId, name }
    drafts.push(draft)
    calls.set(callId, draft)
    return draft
  }

  const readers: { [T in LanguageModelV4StreamPart['type']]?: (part: PartOf<T>) => ModelPart | undefined } = {
    'text-start': (part) => begin('text', part),
    'text-delta': (part) => append('text', part),
    'text-end': (part) => void open.text.delete(part.id),
    'reasoning-start': (part) => begin('thinking', part),
    'reasoning-delta': (part) => append('thinking', part),
    'reasoning-end': (part) => {
      const draft = open.thinking.get(part.id)
      if (draft !== undefined) draft.data = mergeData(draft.data, part.providerMetadata)
      open.thinking.delete(part.id)
      return undefined
    },
    'tool-input-start': (part) => {
      if (part.providerExecuted === true) {
        ignored.add(part.id)
        return undefined
      }
      startCall(part.id, part.toolName).data = part.providerMetadata
      return { type: 'toolCall.delta', callId: part.id, name: part.toolName, text: '' }
    },
    'tool-input-delta': (part) =>
      ignored.has(part.id) || part.delta === ''
        ? undefined
        : { type: 'toolCall.delta', callId: part.id, text: part.delta },
    'tool-call': (part) => {
      if (part.providerExecuted === true) return undefined
      const known = calls.get(part.toolCallId)
      const draft = known ?? startCall(part.toolCallId, part.toolName)
      draft.name = part.toolName
      draft.input = part.input
      draft.data = mergeData(draft.data, part.providerMetadata)
      return known === undefined
        ? { type: 'toolCall.delta', callId: part.toolCallId, name: part.toolName, text: part.input }
        : undefined
    },
    file: (part) => {
      const image = toImage(part)
      if (image !== undefined) drafts.push(image)
      return undefined
    },
    // A stream may hold several finishes when the provider continues a paused turn: the last one counts.
    finish: (part) => void (finish = part),
    error: (part) => ({ type: 'error', error: readError(part.error) }),
  }

  return {
    read(part) {
      if (!Object.hasOwn(readers, part.type)) return undefined
      return (readers[part.type] as (part: LanguageModelV4StreamPart) => ModelPart | undefined)(part)
    },
    get isFinished() {
      return finish !== undefined
    },
    end() {
      const failed = failureOf(finish?.finishReason)
      if (failed !== undefined) return failed
      const content = drafts.flatMap(toBlocks)
      const stopReason = toStopReason(finish?.finishReason, content)
      return { type: 'done', reply: { content, stopReason, usage: toUsage(finish?.usage) } }
    },
  }
}

function failureOf(reason: LanguageModelV4FinishReason | undefined): ModelPart | undefined {
  if (reason === undefined || reason.unified === 'interrupted') {
    return { type: 'error', error: { kind: 'network', message: 'The stream of the reply ended before the reply did.' } }
  }
  if (reason.unified !== 'error') return undefined
  const raw = reason.raw === undefined ? '' : ` (${reason.raw})`
  return { type: 'error', error: { kind: 'other', message: `The provider ended the reply with an error${raw}.` } }
}

const cutShort = new Map<string | undefined, ReplyStopReason>([
  ['length', 'length'],
  ['content-filter', 'refusal'],
])

/** Some servers say "stop" after tool calls, or "tool calls" when the provider ran them itself: the content decides. */
function toStopReason(reason: LanguageModelV4FinishReason | undefined, content: readonly Block[]): ReplyStopReason {
  return cutShort.get(reason?.unified) ?? (content.some((block) => block.type === 'toolCall') ? 'toolUse' : 'stop')
}

function toUsage(usage: LanguageModelV4Usage | undefined): Usage {
  const { inputTokens, outputTokens } = usage ?? {}
  const cacheRead = inputTokens?.cacheRead ?? 0
  const cacheWrite = inputTokens?.cacheWrite ?? 0
  const reasoning = outputTokens?.reasoning ?? 0
  return {
    input: inputTokens?.noCache ?? Math.max(0, (inputTokens?.total ?? 0) - cacheRead - cacheWrite),
    output: outputTokens?.total ?? (outputTokens?.text ?? 0) + reasoning,
    cacheRead,
    cacheWrite,
    ...(reasoning > 0 && { reasoning }),
  }
}

/** Blocks of a draft; one that never got content, or whose call was never completed, has none. */
function toBlocks(draft: Draft): Block[] {
  if (draft.type === 'image') return [draft]
  if (draft.type === 'toolCall') return toCall(draft)
  if (draft.type === 'text')
    return draft.text === '' ? [] : [...toCarrier(draft.data), { type: 'text', text: draft.text }]
  const signature = toSignature(draft.data)
  if (signature !== undefined) return [{ type: 'thinking', text: draft.text, signature }]
  return draft.text === '' ? [] : [{ type: 'thinking', text: draft.text }]
}

function toCall({ callId, name, input, data }: Called): Block[] {
  return input === undefined ? [] : [...toCarrier(data), { type: 'toolCall', callId, name, input: parseInput(input) }]
}

/** An empty thinking block that keeps what the provider wants back with the block after it. */
function toCarrier(data: SharedV4ProviderMetadata | undefined): Block[] {
  const signature = toNextSignature(data)
  return signature === undefined ? [] : [{ type: 'thinking', text: '', signature }]
}

/** The arguments as JSON; the text itself when it is not JSON, so that the tool layer can tell the model. */
function parseInput(text: string): unknown {
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function toImage(part: LanguageModelV4File): Draft | undefined {
  if (!part.mediaType.startsWith('image/') || part.data.type !== 'data') return undefined
  const { data } = part.data
  return {
    type: 'image',
    mimeType: part.mediaType,
    data: typeof data === 'string' ? data : Buffer.from(data).toString('base64'),
  }
}
