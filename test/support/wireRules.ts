import type { WireRequest } from './wireServer/wireServer.ts'

interface Part {
  readonly type: string
  readonly text?: string
  readonly id?: string
  readonly tool_use_id?: string
}

interface WireMessage {
  readonly role: string
  readonly content: string | readonly Part[] | null
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly arguments: string } }[]
  readonly tool_call_id?: string
}

/** Faults for which a provider of this family would refuse a request, by the formats' published rules and not by our own. */
export function wireFaults(family: string, { body }: WireRequest): string[] {
  const messages = body['messages'] as readonly WireMessage[]
  return family === 'anthropic' ? anthropicFaults(messages) : openaiFaults(messages)
}

const partsOf = ({ content }: WireMessage): readonly Part[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])

/** Roles alternate from user on; calls are answered first thing in the next message, each once; no blank text. */
function anthropicFaults(messages: readonly WireMessage[]): string[] {
  const faults: string[] = []
  const used = new Set<string>()
  let open: string[] = []
  messages.forEach((message, at) => {
    if (message.role !== (at % 2 === 0 ? 'user' : 'assistant')) faults.push(`message ${at} is ${message.role}`)
    const parts = partsOf(message)
    if (parts.length === 0) faults.push(`message ${at} has no content`)
    for (const part of parts) {
      if (part.type === 'text' && (part.text ?? '').trim() === '') faults.push(`message ${at} has a blank text`)
    }
    const results = parts.filter(({ type }) => type === 'tool_result')
    const answered = results.map((part) => part.tool_use_id ?? '')
    if (answered.toSorted().join() !== open.toSorted().join())
      faults.push(`message ${at} answers [${answered.join()}], open are [${open.join()}]`)
    if (parts.slice(0, results.length).some(({ type }) => type !== 'tool_result'))
      faults.push(`message ${at} says something before its results`)
    open = parts.flatMap(({ type, id }) => (type === 'tool_use' ? [id ?? ''] : []))
    for (const id of open) {
      if (used.has(id)) faults.push(`call ${id} is made twice`)
      used.add(id)
    }
  })
  if (messages.at(-1)?.role !== 'user') faults.push('the last message is not of the user')
  return faults
}

/** Every call is answered by a tool message directly after it, each once; no tool message without; arguments are JSON. */
function openaiFaults(messages: readonly WireMessage[]): string[] {
  const faults: string[] = []
  const used = new Set<string>()
  let open: string[] = []
  messages.forEach((message, at) => {
    if (message.role === 'tool') {
      const id = message.tool_call_id ?? ''
      if (!open.includes(id)) faults.push(`message ${at} answers ${id}, which is not open`)
      open = open.filter((other) => other !== id)
      return
    }
    if (open.length > 0) faults.push(`message ${at} comes before [${open.join()}] are answered`)
    if (!['system', 'user', 'assistant'].includes(message.role)) faults.push(`message ${at} is ${message.role}`)
    if (message.role === 'system' && at > 0) faults.push(`message ${at} is a system prompt`)
    const { tool_calls: toolCalls = [] } = message
    if (toolCalls.length === 0 && partsOf(message).every(({ text, type }) => type === 'text' && (text ?? '') === ''))
      faults.push(`message ${at} is empty`)
    open = toolCalls.map(({ id }) => id)
    for (const { id, function: called } of toolCalls) {
      if (used.has(id)) faults.push(`call ${id} is made twice`)
      used.add(id)
      try {
        JSON.parse(called.arguments)
      } catch {
        faults.push(`the arguments of call ${id} are not JSON`)
      }
    }
  })
  if (open.length > 0) faults.push(`[${open.join()}] are never answered`)
  if (!['user', 'tool'].includes(messages.at(-1)?.role ?? ''))
    faults.push('the last message is neither of the user nor of a tool')
  return faults
}
