// What `useChat` takes and gives is declared here without the package: it is the same.
import type { UIMessage, UIMessageChunk } from 'ai'
import type { UiMessage, UiMessageChunk, UiMessagePart, UiMetadata } from '../../src/aiSdk.ts'

type ChunkOfAi = UIMessageChunk<UiMetadata>
type MessageOfAi = UIMessage<UiMetadata>

export const message = (given: UiMessage): MessageOfAi => given
export const messages = (given: UiMessage[]): UIMessage[] => given
export const chunk = (given: UiMessageChunk): ChunkOfAi => given
export const part = (given: UiMessagePart): MessageOfAi['parts'][number] => given
export const stream = (given: ReadableStream<UiMessageChunk>): ReadableStream<UIMessageChunk> => given

// @ts-expect-error A chunk that the AI SDK does not know is none of ours either.
export const unknown: UiMessageChunk = { type: 'text-begin', id: 't0' }
