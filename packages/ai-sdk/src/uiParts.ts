import { textOf, type Block, type PlainBlock, type ProviderBlock } from '../../../src/protocol/messages.ts'
import type { UiFilePart, UiMessagePart, UiPlainPart, UiTextPart, UiToolPart } from './uiTypes.ts'

/** A piece of a message that is still being written. It only grows, so a client's progress is the number of pieces sent. */
export interface Growing {
  readonly type: 'growing'
  readonly of: 'text' | 'reasoning' | 'call'
  readonly pieces: string[]
  /** Set for a call, as is `toolName`. */
  readonly toolCallId?: string
  readonly toolName?: string
}

export type Entry = UiMessagePart | Growing

/** Returns the id of a text or reasoning part in its chunks, by its place in the message. */
export const partId = (of: 'text' | 'reasoning', index: number): string => `${of === 'text' ? 't' : 'r'}${index}`

export const dataUrl = (mimeType: string, data: string): string => `data:${mimeType};base64,${data}`

/** Converts content from a person or a tool to parts. */
export const saidParts = (content: readonly PlainBlock[]): (UiTextPart | UiFilePart)[] =>
  content.map((block) => {
    if (block.type === 'text') return { type: 'text', text: block.text }
    const { mimeType = 'image/*' } = block
    if (block.type === 'file') {
      const named = block.name === undefined ? {} : { filename: block.name }
      return { type: 'file', mediaType: mimeType, url: dataUrl(mimeType, block.data), ...named }
    }
    return { type: 'file', mediaType: mimeType, url: 'url' in block ? block.url : dataUrl(mimeType, block.data) }
  })

/** Returns a tool's result: its text, the parsed value if the text is a JSON object or list, or its parts if it has more than text. */
export function outputOf(content: readonly PlainBlock[]): unknown {
  if (!content.every(({ type }) => type === 'text')) return saidParts(content)
  const text = textOf(content)
  if (!/^\s*[[{]/.test(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/**
 * Converts a reply to parts, the first at `at`. Actions of the provider come after the text that they interrupt: they
 * are not streamed, so the text is one part while it grows, and stays one. `idOf` names its calls.
 */
export function replyParts(content: readonly Block[], at: number, idOf: (callId: string) => string): UiMessagePart[] {
  const parts: UiMessagePart[] = []
  let open: { readonly of: 'text' | 'reasoning'; text: string } | undefined
  let held: UiMessagePart[] = []
  const close = (): void => {
    if (open?.of === 'text') parts.push({ type: 'text', text: open.text, state: 'done' })
    if (open?.of === 'reasoning')
      parts.push({ type: 'reasoning', id: partId('reasoning', at + parts.length), text: open.text, state: 'done' })
    parts.push(...held)
    open = undefined
    held = []
  }
  const grow = (of: 'text' | 'reasoning', text: string): void => {
    if (text === '') return
    if (open !== undefined && open.of !== of) close()
    open ??= { of, text: '' }
    open.text += text
  }
  for (const block of content) {
    if (block.type === 'text') grow('text', block.text)
    else if (block.type === 'thinking') grow('reasoning', block.text)
    else if (block.type === 'toolCall') {
      close()
      const { name, input } = block
      parts.push({
        type: 'dynamic-tool',
        toolName: name,
        toolCallId: idOf(block.callId),
        state: 'input-available',
        input,
      })
    } else if (block.type === 'provider') provide(held, parts, block)
    else held.push(...(saidParts([block]) as UiPlainPart[]))
  }
  close()
  return parts
}

/** Displayable fields of a provider's own actions, as a model adapter stores them. */
interface Provided {
  readonly toolCallId?: string
  readonly input?: unknown
  readonly output?: { readonly type: string; readonly value: unknown }
  readonly type?: string
  readonly mediaType?: string
  readonly data?: { readonly type: string; readonly url?: string; readonly data?: string }
  readonly source?: Provided
  readonly sourceType?: string
  readonly id?: string
  readonly url?: string
  readonly title?: string
  readonly filename?: string
}

/** Adds the actions that a provider did on its own. The result of a call is added to the call. */
function provide(parts: UiMessagePart[], before: UiMessagePart[], { kind, name, provider, data }: ProviderBlock): void {
  const given = (typeof data === 'object' && data !== null ? data : {}) as Provided
  switch (kind) {
    case 'call':
      parts.push({
        type: 'dynamic-tool',
        toolName: name,
        toolCallId: given.toolCallId ?? name,
        providerExecuted: true,
        state: 'input-available',
        input: given.input ?? null,
      })
      return
    case 'result':
      return provideResult(parts, before, name, given)
    case 'source':
      parts.push(sourcePart(given.source ?? given, name))
      return
    case 'file': {
      const mediaType = given.mediaType ?? name
      const url = given.data?.url ?? dataUrl(mediaType, given.data?.data ?? '')
      parts.push({ type: given.type === 'reasoning-file' ? 'reasoning-file' : 'file', mediaType, url })
      return
    }
    case 'other':
      parts.push({ type: 'custom', kind: name.includes('.') ? (name as `${string}.${string}`) : `${provider}.${name}` })
  }
}

function provideResult(
  parts: UiMessagePart[],
  before: UiMessagePart[],
  toolName: string,
  { toolCallId = toolName, output }: Provided,
): void {
  const isCall = (part: UiMessagePart): boolean => part.type === 'dynamic-tool' && part.toolCallId === toolCallId
  const list = [parts, before].find((candidates) => candidates.some(isCall)) ?? parts
  const index = list.findLastIndex(isCall)
  const input = index === -1 ? null : (list[index] as UiToolPart).input
  const call = { type: 'dynamic-tool', toolName, toolCallId, providerExecuted: true, input } as const
  const value = output?.value ?? null
  const part: UiToolPart =
    output?.type.startsWith('error') === true
      ? { ...call, state: 'output-error', errorText: typeof value === 'string' ? value : JSON.stringify(value) }
      : { ...call, state: 'output-available', output: value }
  if (index === -1) list.push(part)
  else list[index] = part
}

function sourcePart({ sourceType, id, url, title, mediaType, filename }: Provided, name: string): UiPlainPart {
  if (sourceType === 'document') {
    const file = filename === undefined ? {} : { filename }
    return {
      type: 'source-document',
      sourceId: id ?? name,
      mediaType: mediaType ?? 'application/octet-stream',
      title: title ?? name,
      ...file,
    }
  }
  return { type: 'source-url', sourceId: id ?? name, url: url ?? name, ...(title === undefined ? {} : { title }) }
}
