import { RuntimeError } from '../../../src/protocol/errors.ts'
import type { HistoryMessage } from '../../../src/protocol/history.ts'
import type { Block, PlainBlock } from '../../../src/protocol/messages.ts'
import { fileBlockOf } from './adapters/filePart.ts'

/** The fields used from a message part of the AI SDK. */
interface Part {
  readonly type: string
  readonly text?: unknown
  readonly image?: unknown
  readonly data?: unknown
  readonly url?: unknown
  readonly mediaType?: string | undefined
  readonly filename?: string | undefined
  readonly toolCallId?: string
  readonly toolName?: string
  readonly input?: unknown
  readonly output?: unknown
  readonly providerExecuted?: boolean | undefined
}

/** A `ModelMessage` of the AI SDK, declared here so that no package is needed. */
export interface AiSdkMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string | readonly Part[]
}

/**
 * Messages of the AI SDK (`ModelMessage`; for those of a user interface use its `convertToModelMessages` first) as the `history` that an
 * agent begins with. Instructions, reasoning, approvals and what a provider did on its own are left out; replies that follow each
 * other become one. Pure.
 *
 * @throws RuntimeError `INVALID_OPTION` for files that are neither images nor data, naming the message by its index
 *
 * @example
 * ```ts
 * import { historyOf } from 'escapement/ai-sdk'
 *
 * const history = historyOf([
 *   { role: 'user', content: 'Which tests fail?' },
 *   { role: 'assistant', content: [{ type: 'text', text: 'Only sum.test.js.' }] },
 * ])
 * await runtime.spawn(coder, { history })
 * ```
 */
export function historyOf(messages: readonly AiSdkMessage[]): HistoryMessage[] {
  const history: HistoryMessage[] = []
  for (const [index, { role, content }] of messages.entries()) {
    const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content
    if (role === 'user') history.push({ role, content: parts.map((part) => said(part, index)) })
    else if (role === 'tool') history.push(...parts.filter(isResult).map((part) => resultOf(part, index)))
    else if (role === 'assistant') addReply(history, parts.flatMap(replied))
  }
  return history
}

function addReply(history: HistoryMessage[], content: readonly Block[]): void {
  if (content.length === 0) return
  const last = history.at(-1)
  if (last?.role === 'assistant' && typeof last.content !== 'string')
    history[history.length - 1] = { role: 'assistant', content: [...last.content, ...content] }
  else history.push({ role: 'assistant', content })
}

function replied({ type, text, toolCallId = '', toolName = '', input, providerExecuted }: Part): Block[] {
  if (type === 'text') return text === '' ? [] : [{ type: 'text', text: String(text) }]
  if (type !== 'tool-call' || providerExecuted === true) return []
  return [{ type: 'toolCall', callId: toolCallId, name: toolName, input }]
}

const isResult = ({ type }: Part): boolean => type === 'tool-result'

interface Output {
  readonly type: string
  readonly value?: unknown
  readonly reason?: string
}

function resultOf({ toolCallId: callId = '', toolName = '', output }: Part, index: number): HistoryMessage {
  const { type, value, reason } = (output ?? { type: 'text', value: '' }) as Output
  const isError = type.startsWith('error') || type === 'execution-denied'
  const result = { role: 'toolResult', callId, toolName, ...(isError ? { isError } : {}) } as const
  if (type === 'content') return { ...result, content: (value as readonly Part[]).map((part) => said(part, index)) }
  if (type === 'execution-denied') return { ...result, content: reason ?? 'It was denied.' }
  return { ...result, content: typeof value === 'string' ? value : (JSON.stringify(value) ?? '') }
}

/** Converts a text, an image or a file from any of the AI SDK's forms. */
function said(
  { type, text, image, url, data = image ?? url, mediaType = 'image/png', filename }: Part,
  index: number,
): PlainBlock {
  if (type === 'text') return { type, text: String(text) }
  const isImage = type.startsWith('image') && !mediaType.startsWith('image')
  const block = fileBlockOf({ data, mediaType: isImage ? 'image/png' : mediaType, filename })
  if (block !== undefined) return block
  const what = `historyOf: message ${index} has a part "${type}" of type ${mediaType}; give text, images, and files as data.`
  throw new RuntimeError('INVALID_OPTION', what)
}
