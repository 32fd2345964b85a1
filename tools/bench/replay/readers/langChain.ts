import type { RecordedSession } from '../recordedSession.ts'
import { plainBlock, readMessage, readTool } from './chatMessages.ts'
import { SessionDraft } from './sessionDraft.ts'
import { asText, isObject, type Json, listOf, numberOf, objectOf, textOf } from './shapes.ts'

const roles: { readonly [kind: string]: string } = {
  human: 'user',
  ai: 'assistant',
  system: 'system',
  tool: 'tool',
  function: 'tool',
}

interface Message {
  readonly role: string
  readonly fields: Json
}

/** A message as LangChain writes it: of a class with `kwargs`, or with its kind as `type` and its fields beside it or as `data`. */
function messageIn(value: unknown): Message | undefined {
  const { type, id, kwargs, data, content, lc } = objectOf(value)
  const isMade = lc === 1 && type === 'constructor'
  const kind = isMade ? textOf(listOf(id).at(-1)) : textOf(type)
  const fields = isMade ? objectOf(kwargs) : content === undefined ? objectOf(data) : objectOf(value)
  const plain = kind.replace(/(?:Message)?(?:Chunk)?$/, '').toLowerCase()
  return Object.hasOwn(roles, plain) && 'content' in fields ? { role: roles[plain]!, fields } : undefined
}

/** Where messages stand: in states of threads, checkpoints, runs, and streams of them. */
const holders = ['messages', 'values', 'channel_values', 'outputs', 'output', 'data', 'checkpoint', 'state']
const maxDepth = 5

/** The messages of LangGraph in a recording; of several states the one with most of them, as each has all that were before. */
export function langChainMessagesIn(value: unknown, depth = 0): readonly Message[] | undefined {
  if (depth > maxDepth) return undefined
  if (Array.isArray(value)) {
    const messages = value.map(messageIn)
    if (messages.length > 0 && messages.every((message) => message !== undefined)) return messages
  }
  const inner = Array.isArray(value) ? value : isObject(value) ? holders.map((holder) => value[holder]) : []
  const found = inner.flatMap((one) => {
    const messages = langChainMessagesIn(one, depth + 1)
    return messages === undefined ? [] : [messages]
  })
  return found.toSorted((a, b) => b.length - a.length)[0]
}

export function readLangChain(messages: readonly Message[], name: string): RecordedSession {
  const draft = new SessionDraft('LangGraph messages')
  for (const { role, fields } of messages) {
    const { tool_call_id: callId, status } = fields
    if (role === 'tool') draft.result(textOf(callId), partsOf(fields).map(plainBlock), status === 'error')
    else if (role === 'assistant') readReply(draft, fields)
    else readMessage(draft, { role, content: partsOf(fields) })
  }
  return draft.finish(name)
}

function readReply(draft: SessionDraft, fields: Json): void {
  const { tool_calls: made, invalid_tool_calls: broken, additional_kwargs: more } = fields
  const { tool_calls: ofProvider, reasoning, reasoning_content: thought } = objectOf(more)
  for (const tool of listOf(objectOf(fields['response_metadata'])['tools'])) readTool(draft, objectOf(tool))
  const known = [...listOf(made), ...listOf(broken)].map((call) => {
    const { id, name, args } = objectOf(call)
    return { id, function: { name, arguments: args } }
  })
  const thinking = { type: 'thinking', text: `${textOf(thought)}${summaryOf(objectOf(reasoning))}` }
  const said = partsOf(fields).filter(({ type }) => !callTypes.has(textOf(type)))
  const input = numberOf(objectOf(fields['usage_metadata'])['input_tokens'])
  const calls = known.length > 0 ? known : listOf(ofProvider)
  readMessage(draft, { role: 'assistant', content: [thinking, ...said], tool_calls: calls }, input)
}

/** Parts that say again what `tool_calls` says. */
const callTypes = new Set(['tool_use', 'tool_call', 'function_call', 'input_json_delta', 'tool_call_chunk'])

const summaryOf = ({ summary }: Json): string =>
  listOf(summary)
    .map((part) => textOf(objectOf(part)['text']))
    .join('\n')

/** The content of a message in parts as chat messages have them. */
const partsOf = ({ content }: Json): Json[] =>
  (Array.isArray(content) ? content : [content]).map((value: unknown) => {
    if (!isObject(value)) return { type: 'text', text: asText(value) }
    const { type, reasoning, image_url: image, data, mime_type: mediaType } = value
    if (type === 'reasoning') return { type, text: textOf(reasoning) || summaryOf(value) }
    if (typeof image === 'string') return { type, image_url: { url: image } }
    return type === 'image' && data !== undefined ? { type, image: data, mediaType } : value
  })
