import type {
  LanguageModelV4File,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
  SharedV4Warning,
} from '@ai-sdk/provider'
import { errorOfReply } from '../../../../src/protocol/checks/judgeReply.ts'
import { totalTokens, type Block, type Usage } from '../../../../src/protocol/messages.ts'
import type { ModelError, ModelPart, ModelReply } from '../../../../src/protocol/ports/model.ts'
import { mergeData, toNextSignature, toSignature } from './providerData.ts'
import { parseInput, toBase64, toCited, toProvided, type ProvidedPart } from './providerParts.ts'
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
  /** The input received so far. */
  text: string
  /** The complete input. Missing until the call is complete. */
  input?: string
  data?: SharedV4ProviderMetadata | undefined
}
type Draft = Written | Called | Extract<Block, { type: 'image' | 'provider' }>
const nothing: readonly ModelPart[] = []

/** Custom content that describes the stream and is not part of the reply. */
const remarks: ReadonlySet<string> = new Set(['anthropic.message_start'])

type PartOf<T extends LanguageModelV4StreamPart['type']> = Extract<LanguageModelV4StreamPart, { type: T }>

/** Folds the parts of one AI SDK stream into the parts of the `Model` port. */
export interface ReplyReader {
  /** Takes the next part; returns a delta, warnings, a terminal `error`, or nothing. */
  read(part: LanguageModelV4StreamPart): readonly ModelPart[]
  /** True once the provider has reported how the reply ended. */
  readonly isFinished: boolean
  /** Returns the terminal part once the stream has ended. */
  end(): ModelPart
  /** Returns the terminal part after the stream has failed. */
  fail(thrown: unknown): ModelPart
}

/**
 * Reads one reply of a provider. `asked`: id of the model that was asked for. Contract: blocks keep the order in which they started; the
 * provider's own tool calls, sources and files become `provider` blocks; a generated image becomes an image block; anything that cannot be
 * kept causes a warning.
 */
export function createReplyReader(provider: string, asked?: string): ReplyReader {
  const drafts: Draft[] = []
  const open = { text: new Map<string, Written>(), thinking: new Map<string, Written>() }
  /** Calls that are not complete, by id. */
  const calls = new Map<string, Called[]>()
  /** Calls that the provider executes itself. */
  const provided = new Set<string>()
  let finish: PartOf<'finish'> | undefined
  let answered: string | undefined
  /** The usage that the provider reports at the start of the reply. */
  let begun: Usage | undefined

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
    const draft: Called = { type: 'toolCall', callId, name, text: '' }
    drafts.push(draft)
    return draft
  }

  const failed = (error: ModelError): ModelPart => {
    const usage = finish === undefined ? begun : toUsage(finish.usage)
    return { type: 'error', error: usage === undefined ? error : { ...error, usage } }
  }

  const provide = (part: ProvidedPart): undefined => void drafts.push(toProvided(part, provider))

  const readers: {
    [T in LanguageModelV4StreamPart['type']]: (part: PartOf<T>) => ModelPart | readonly ModelPart[] | undefined
  } = {
    'stream-start': ({ warnings }) => warnings.map((warning) => ({ type: 'warning', message: warningText(warning) })),
    'text-start': (part) => begin('text', part),
    'text-delta': (part) => append('text', part),
    'text-end': (part) => {
      open.text.delete(part.id)
      drafts.push(...(part.citations ?? []).map((citation) => toCited(citation, provider)))
      return undefined
    },
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
        provided.add(part.id)
        return undefined
      }
      const draft = startCall(part.id, part.toolName)
      draft.data = part.providerMetadata
      calls.set(part.id, [...(calls.get(part.id) ?? []), draft])
      return { type: 'toolCall.delta', callId: part.id, name: part.toolName, text: '' }
    },
    'tool-input-delta': (part) => {
      if (provided.has(part.id) || part.delta === '') return undefined
      const draft = calls.get(part.id)?.at(-1)
      if (draft !== undefined) draft.text += part.delta
      return { type: 'toolCall.delta', callId: part.id, text: part.delta }
    },
    'tool-call': (part) => {
      if (part.providerExecuted === true) return provide(part)
      // Ids are not to be relied on: some servers give every call the same one, or none.
      const known = calls.get(part.toolCallId)?.shift()
      const draft = known ?? startCall(part.toolCallId, part.toolName)
      draft.name = part.toolName
      draft.input = part.input
      draft.data = mergeData(draft.data, part.providerMetadata)
      return known === undefined
        ? { type: 'toolCall.delta', callId: part.toolCallId, name: part.toolName, text: part.input }
        : undefined
    },
    // Preliminary results are progress; the final one replaces them.
    'tool-result': (part) => (part.preliminary === true ? undefined : provide(part)),
    'tool-approval-request': ({ toolCallId }) => ({
      type: 'warning',
      message: `The provider asks for approval of its own call ${toolCallId}, which cannot be given: let its tool run without.`,
    }),
    source: provide,
    custom(part) {
      if (!remarks.has(part.kind)) return provide(part)
      begun = toldAtStart(part.providerMetadata) ?? begun
      return undefined
    },
    'reasoning-file': provide,
    file: (part) => {
      const image = toImage(part)
      if (image === undefined) provide(part)
      else drafts.push(image)
      return undefined
    },
    'tool-input-end': () => undefined,
    'response-metadata': ({ modelId }) => void (answered = modelId ?? answered),
    ping: () => undefined,
    raw: () => undefined,
    // A stream may hold several finishes when the provider continues a paused turn: the last one counts.
    finish: (part) => void (finish = part),
    error: (part) => failed(readError(part.error)),
  }

  return {
    read(part) {
      if (!Object.hasOwn(readers, part.type)) return [unknownPart(part)]
      const read = readers[part.type] as (
        part: LanguageModelV4StreamPart,
      ) => ModelPart | readonly ModelPart[] | undefined
      return [read(part) ?? nothing].flat()
    },
    get isFinished() {
      return finish !== undefined
    },
    fail: (thrown) => failed(readError(thrown)),
    end() {
      const { unified, raw } = finish?.finishReason ?? broken
      // Without a word for it, it is a stream that just ends.
      if (unified === 'interrupted' || (unified === 'other' && raw === undefined))
        return failed({ kind: 'network', message: 'The stream of the reply ended before the reply did.' })
      const content = drafts.flatMap((draft) => toBlocks(draft, unified === 'length'))
      const isAnother = asked !== undefined && answered !== undefined && answered !== asked
      const reply: ModelReply = {
        content,
        stopReason: toStopReason(unified, content),
        ...(raw === undefined ? {} : { endReason: unified === 'error' ? `error: ${raw}` : raw }),
        usage: toUsage(finish?.usage),
        ...(isAnother ? { responseModel: answered! } : {}),
      }
      const error = errorOfReply(reply)
      return error === undefined ? { type: 'done', reply } : { type: 'error', error }
    },
  }
}

const broken: LanguageModelV4FinishReason = { unified: 'interrupted', raw: undefined }

const stopReasons = new Map<LanguageModelV4FinishReason['unified'], ModelReply['stopReason']>([
  ['length', 'length'],
  ['content-filter', 'refusal'],
  ['error', 'other'],
  ['other', 'other'],
])

/** Returns the stop reason by the content: some servers report "stop" after tool calls, or "tool calls" when the provider ran them itself. */
const toStopReason = (
  unified: LanguageModelV4FinishReason['unified'],
  content: readonly Block[],
): ModelReply['stopReason'] =>
  stopReasons.get(unified) ?? (content.some((block) => block.type === 'toolCall') ? 'toolUse' : 'stop')

/** Returns the usage that Anthropic reports before it answers, which is the only usage known for a reply that breaks off. */
function toldAtStart(data: SharedV4ProviderMetadata | undefined): Usage | undefined {
  const { usage } = (data?.['anthropic'] ?? {}) as { readonly usage?: { readonly [name: string]: unknown } | null }
  const count = (name: string): number => Math.max(0, Number(usage?.[name]) || 0)
  const told: Usage = {
    input: count('input_tokens'),
    output: count('output_tokens'),
    cacheRead: count('cache_read_input_tokens'),
    cacheWrite: count('cache_creation_input_tokens'),
  }
  return totalTokens(told) === 0 ? undefined : told
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

/** Returns the blocks of a draft. There are none if it has no content, or if its call is incomplete although the reply was not cut off in it. */
function toBlocks(draft: Draft, isCut: boolean): Block[] {
  if (draft.type === 'image' || draft.type === 'provider') return [draft]
  if (draft.type === 'toolCall') return toCall(isCut ? { ...draft, input: draft.input ?? draft.text } : draft)
  if (draft.type === 'text')
    return draft.text === '' ? [] : [...toCarrier(draft.data), { type: 'text', text: draft.text }]
  const signature = toSignature(draft.data)
  if (signature !== undefined) return [{ type: 'thinking', text: draft.text, signature }]
  return draft.text === '' ? [] : [{ type: 'thinking', text: draft.text }]
}

function toCall({ callId, name, input, data }: Called): Block[] {
  return input === undefined ? [] : [...toCarrier(data), { type: 'toolCall', callId, name, input: parseInput(input) }]
}

/** Returns an empty thinking block with the data that the provider wants back with the next block. */
function toCarrier(data: SharedV4ProviderMetadata | undefined): Block[] {
  const signature = toNextSignature(data)
  return signature === undefined ? [] : [{ type: 'thinking', text: '', signature }]
}

const unknownPart = ({ type }: { readonly type: string }): ModelPart => ({
  type: 'warning',
  message: `A part of unknown type ${JSON.stringify(type)} was left out of the reply.`,
})

/** Returns a warning of the AI SDK as one line. */
function warningText(warning: SharedV4Warning): string {
  switch (warning.type) {
    case 'unsupported':
    case 'compatibility': {
      const what = warning.type === 'unsupported' ? 'is not supported' : 'is only partly supported'
      return `"${warning.feature}" ${what}${warning.details === undefined ? '' : `: ${warning.details}`}`
    }
    case 'deprecated':
      return `"${warning.setting}" is deprecated: ${warning.message}`
    case 'other':
      return warning.message
  }
}

function toImage(part: LanguageModelV4File): Draft | undefined {
  if (!part.mediaType.startsWith('image/') || part.data.type !== 'data') return undefined
  const { data } = part.data
  return {
    type: 'image',
    mimeType: part.mediaType,
    data: toBase64(data),
  }
}
