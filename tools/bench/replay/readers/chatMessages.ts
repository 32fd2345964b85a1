import type { Block, PlainBlock } from '../../../../src/index.ts'
import type { RecordedSession } from '../recordedSession.ts'
import { SessionDraft } from './sessionDraft.ts'
import { argumentsOf, asText, imageOf, isObject, type Json, listOf, objectOf, text, textOf } from './shapes.ts'

const roles = new Set(['system', 'developer', 'user', 'assistant', 'tool', 'function'])

/** The messages of a list, or of an object that has one: OpenAI chat messages, AI SDK model messages or UI messages. */
export function chatMessagesIn(value: unknown): { messages: readonly Json[]; tools: readonly unknown[] } | undefined {
  const { messages = value, tools } = objectOf(value)
  const list = listOf(messages)
  const isChat =
    list.length > 0 &&
    list.every((message) => isObject(message) && roles.has(textOf(message['role'])) && hasContent(message))
  return isChat ? { messages: list as readonly Json[], tools: listOf(tools) } : undefined
}

const hasContent = (message: Json): boolean => 'content' in message || 'parts' in message || 'tool_calls' in message

export function readChatMessages(
  { messages, tools }: { readonly messages: readonly Json[]; readonly tools: readonly unknown[] },
  name: string,
  format?: string,
): RecordedSession {
  const isUi = messages.some((message) => Array.isArray(message['parts']) && !('content' in message))
  const isOpenAi = !isUi && messages.some((message) => 'tool_calls' in message || 'tool_call_id' in message)
  const draft = new SessionDraft(
    format ?? (isUi ? 'AI SDK UI messages' : isOpenAi ? 'OpenAI chat messages' : 'chat messages'),
  )
  for (const tool of tools) readTool(draft, objectOf(tool))
  for (const message of messages) {
    if (Array.isArray(message['parts'])) readUiMessage(draft, message)
    else readMessage(draft, message)
  }
  return draft.finish(name)
}

/** Reads the description of a tool for models, in the format of any of the providers. */
export function readTool(draft: SessionDraft, tool: Json): void {
  const {
    name,
    description,
    parameters,
    inputSchema: ofAiSdk,
    input_schema: ofAnthropic,
  } = objectOf(tool['function'] ?? tool)
  const schema = objectOf(parameters ?? ofAiSdk ?? ofAnthropic)
  if (textOf(name) !== '')
    draft.tool({
      name: textOf(name),
      description: textOf(description),
      inputSchema: { type: 'object', ...schema },
    })
}

/** `input`: the tokens of a reply's request, if they were recorded. */
export function readMessage(draft: SessionDraft, message: Json, input = 0): void {
  const { role, content } = message
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content).map(objectOf)
  if (role === 'system' || role === 'developer') draft.system(parts.map((part) => textOf(part['text'])).join('\n'))
  else if (role === 'user') readUserParts(draft, parts)
  else if (role === 'assistant') {
    draft.reply(
      [...parts.flatMap(replyBlock), ...listOf(message['tool_calls']).map((call) => openAiCall(objectOf(call)))],
      input,
    )
    // A tool that the provider ran has its result in the reply itself.
    for (const part of parts) if (part['type'] === 'tool-result') readResult(draft, part)
  } else if ('tool_call_id' in message) draft.result(textOf(message['tool_call_id']), parts.map(plainBlock), false)
  else for (const part of parts) if (part['type'] === 'tool-result') readResult(draft, part)
}

/** In Anthropic's form the results stand in user messages. */
function readUserParts(draft: SessionDraft, parts: readonly Json[]): void {
  for (const { type, tool_use_id: callId, content, is_error: isError } of parts)
    if (type === 'tool_result') {
      const blocks =
        typeof content === 'string' ? [text(content)] : listOf(content).map((part) => plainBlock(objectOf(part)))
      draft.result(textOf(callId), blocks, isError === true)
    }
  draft.user(parts.filter(({ type }) => type !== 'tool_result').map(plainBlock))
}

function readResult(draft: SessionDraft, part: Json): void {
  const output = objectOf(part['output'])
  const { type, value } = output
  const blocks =
    type === 'content'
      ? listOf(value).map((item) => plainBlock(objectOf(item)))
      : [text(asText(value ?? part['result'] ?? part['output']))]
  const isError = type === 'error-text' || type === 'error-json' || type === 'execution-denied'
  draft.result(textOf(part['toolCallId']), blocks, isError)
}

const openAiCall = (call: Json): Block => {
  const { name, arguments: given } = objectOf(call['function'])
  return { type: 'toolCall', callId: textOf(call['id']), name: textOf(name), input: argumentsOf(given) }
}

/** A part of a reply. */
export function replyBlock(part: Json): Block[] {
  switch (part['type']) {
    case 'tool-call':
      return [
        {
          type: 'toolCall',
          callId: textOf(part['toolCallId']),
          name: textOf(part['toolName']),
          input: argumentsOf(part['input']),
        },
      ]
    case 'tool_use':
      return [{ type: 'toolCall', callId: textOf(part['id']), name: textOf(part['name']), input: part['input'] ?? {} }]
    case 'tool-result':
    case 'step-start':
      return []
    case 'reasoning':
    case 'thinking':
    case 'think':
      return [{ type: 'thinking', text: textOf(part['text'] ?? part['thinking'] ?? part['think']) }]
    default:
      return [text(asText(part['text'] ?? part))]
  }
}

/** A part of what people or tools say. */
export function plainBlock(part: Json): PlainBlock {
  const { url } = objectOf(part['image_url'])
  if (typeof url === 'string') return imageOf(url)
  const { type, mediaType, image, data, source } = part
  if (type === 'image') return imageOf(textOf(image ?? objectOf(source)['data']), textOf(mediaType ?? 'image/png'))
  const isImage = textOf(mediaType).startsWith('image')
  if (isImage) return imageOf(textOf(part['url'] ?? data), textOf(mediaType))
  return text(asText(part['text'] ?? part))
}

/** The replies of one UI message, apart where a step begins, with the results that the tool parts hold. */
function readUiMessage(draft: SessionDraft, message: Json): void {
  const parts = listOf(message['parts']).map(objectOf)
  if (message['role'] === 'system') return draft.system(parts.map((part) => textOf(part['text'])).join('\n'))
  if (message['role'] === 'user') return draft.user(parts.map(plainBlock))
  let step: Json[] = []
  const finish = (): void => {
    draft.reply(step.flatMap((part) => (isToolPart(part) ? [toolPart(part)] : replyBlock(part))))
    for (const part of step.filter(isToolPart)) readToolPart(draft, part)
    step = []
  }
  for (const part of parts) {
    if (part['type'] === 'step-start') finish()
    else step.push(part)
  }
  finish()
}

const isToolPart = ({ type, toolCallId }: Json): boolean =>
  (textOf(type).startsWith('tool-') || type === 'dynamic-tool') && toolCallId !== undefined

const toolPart = ({ type, toolName, toolCallId, input }: Json): Block => ({
  type: 'toolCall',
  callId: textOf(toolCallId),
  name: type === 'dynamic-tool' ? textOf(toolName) : textOf(type).slice('tool-'.length),
  input: input ?? {},
})

function readToolPart(draft: SessionDraft, { toolCallId, state, output, errorText }: Json): void {
  if (state === 'output-available') draft.result(textOf(toolCallId), [text(asText(output))], false)
  else if (state === 'output-error') draft.result(textOf(toolCallId), [text(textOf(errorText))], true)
}
