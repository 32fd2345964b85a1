import type { Attributes } from '@opentelemetry/api'
import {
  isMedia,
  textOf,
  type AssistantMessage,
  type Block,
  type FileBlock,
  type ToolResultMessage,
} from '../../../src/protocol/messages.ts'
import type { ModelRequest, RequestMessage } from '../../../src/protocol/ports/model.ts'
import { finishReasons } from './genAi.ts'

type Part = { readonly type: string; readonly [field: string]: unknown }

/** Converts a block to the conventions' message schema. Bytes are left out: spans are no place for megabytes. */
function partOf(block: Block): Part {
  switch (block.type) {
    case 'text':
      return { type: 'text', content: block.text }
    case 'thinking':
      return { type: 'reasoning', content: block.text }
    case 'provider':
      return { type: block.kind, name: block.name, content: block.data }
    case 'image':
      return 'url' in block
        ? {
            type: 'uri',
            modality: 'image',
            ...(block.mimeType === undefined ? {} : { mime_type: block.mimeType }),
            uri: block.url,
          }
        : { type: 'blob', modality: 'image', mime_type: block.mimeType, content: '' }
    case 'file':
      return { type: 'blob', modality: modalityOf(block), mime_type: block.mimeType, content: '' }
    case 'toolCall':
      return { type: 'tool_call', id: block.callId, name: block.name, arguments: block.input }
  }
}

const modalityOf = ({ mimeType }: FileBlock): string => /^(?:audio|video)(?=\/)/.exec(mimeType)?.[0] ?? 'document'

function messageOf(message: RequestMessage): { role: string; parts: readonly Part[] } {
  if (message.role !== 'toolResult') return { role: message.role, parts: message.content.map(partOf) }
  const media = message.content.filter(isMedia)
  const response = { type: 'tool_call_response', id: message.callId, response: textOf(message.content) }
  return { role: 'tool', parts: [response, ...media.map(partOf)] }
}

/** Returns the content of a model's request as JSON, because span attributes cannot hold objects. */
export const requestContent = ({ system, messages, tools }: ModelRequest): Attributes => ({
  ...(system === '' ? {} : { 'gen_ai.system_instructions': JSON.stringify([{ type: 'text', content: system }]) }),
  'gen_ai.input.messages': JSON.stringify(messages.map(messageOf)),
  ...(tools.length === 0
    ? {}
    : {
        'gen_ai.tool.definitions': JSON.stringify(
          tools.map(({ name, description, inputSchema: parameters }) => ({
            type: 'function',
            name,
            description,
            parameters,
          })),
        ),
      }),
})

/** Returns the content of a model's answer. */
export const replyContent = ({ content, stopReason }: AssistantMessage): Attributes => ({
  'gen_ai.output.messages': JSON.stringify([
    { role: 'assistant', parts: content.map(partOf), finish_reason: finishReasons[stopReason] },
  ]),
})

/** Returns the arguments of a tool call. */
export const callContent = (input: unknown): Attributes => ({
  'gen_ai.tool.call.arguments': JSON.stringify(input) ?? '',
})

/** Returns the text of a tool's result. */
export const resultContent = ({ content }: ToolResultMessage): Attributes => ({
  'gen_ai.tool.call.result': textOf(content),
})
