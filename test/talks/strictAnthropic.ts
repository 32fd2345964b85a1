import { createAnthropic } from '@ai-sdk/anthropic'
import { isPdf } from '../../src/protocol/text/pictureBytes.ts'
import type { Dice } from '../tree/dice.ts'
import {
  isWhole,
  someCallId,
  someInput,
  someName,
  someText,
  wrongImage,
  wrongTools,
  type Json,
  type ProviderFamily,
  type StrictProvider,
} from './strictProvider.ts'

interface Part {
  readonly type: string
  readonly text?: string
  readonly id?: string
  readonly name?: string
  readonly input?: unknown
  readonly thinking?: string
  readonly signature?: string
  readonly data?: string
  readonly tool_use_id?: string
  readonly is_error?: boolean
  readonly content?: string | readonly Part[]
  readonly source?: { readonly type: string; readonly media_type: string; readonly data: string }
  readonly cache_control?: object
}

interface Said {
  readonly role: string
  readonly content: string | readonly Part[]
}

const connected = (fetch: typeof globalThis.fetch) => createAnthropic({ apiKey: 'k', baseURL: 'http://talk', fetch })

/** Anthropic Messages. */
export const anthropicTalks: ProviderFamily = {
  name: 'Anthropic Messages',
  provider: (dice) => new StrictAnthropic(dice),
  model: (fetch) => connected(fetch)('claude-sonnet-4-5'),
  tools: (fetch) => [{ web_search: connected(fetch).tools.webSearch_20250305({ maxUses: 5 }) }],
}

const partsOf = ({ content }: Said): readonly Part[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content

const isThought = ({ type }: Part): boolean => type === 'thinking' || type === 'redacted_thinking'
const isSearchResult = ({ type }: Part): boolean => type === 'web_search_tool_result'

class StrictAnthropic implements StrictProvider {
  readonly #dice: Dice
  /** Thoughts so far, by signature. */
  readonly #thoughts = new Map<string, string>()
  #made = 0

  constructor(dice: Dice) {
    this.#dice = dice
  }

  refuses(body: Json): string | undefined {
    const { messages = [], tools = [] } = body as { messages?: readonly Said[]; tools?: readonly Json[] }
    if (!isWhole(body)) return 'The request body is not valid JSON: no low surrogate in string'
    if (messages.length === 0) return 'messages: at least one message is required'
    if (messages[0]!.role !== 'user') return 'messages: first message must use the "user" role'
    if ((JSON.stringify(body).match(/"cache_control"/g)?.length ?? 0) > 4)
      return 'more than 4 blocks with cache_control'
    const wrong = wrongTools(tools, (tool) => (tool['type'] === undefined ? (tool['input_schema'] ?? {}) : undefined))
    if (wrong !== undefined) return wrong
    const ids = new Set<string>()
    for (const [at, message] of messages.entries()) {
      const isLast = at === messages.length - 1
      const fault =
        this.#wrongIn(partsOf(message), ids) ??
        (message.role === 'assistant'
          ? this.#wrongInReply(message, messages[at + 1], isLast)
          : wrongInSaid(message, messages[at - 1]))
      if (fault !== undefined) return `messages.${at}: ${fault}`
    }
    return undefined
  }

  #wrongIn(parts: readonly Part[], ids: Set<string>): string | undefined {
    if (parts.length === 0) return 'all messages must have non-empty content'
    for (const part of parts) {
      if (part.type === 'text' && (part.text ?? '').trim() === '')
        return 'text content blocks must contain non-whitespace text'
      if (part.type === 'text' && part.text === '' && part.cache_control !== undefined)
        return 'cache_control on nothing'
      if (part.type === 'tool_use' || part.type === 'server_tool_use') {
        if (!/^[\w-]+$/.test(part.id ?? '')) return "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
        if (!/^[\w-]{1,128}$/.test(part.name ?? '')) return 'tool_use.name: String should match pattern'
        if (typeof part.input !== 'object' || part.input === null || Array.isArray(part.input))
          return 'tool_use.input: Input should be a valid dictionary'
        if (ids.has(part.id!)) return 'tool_use ids must be unique'
        ids.add(part.id!)
      }
      if (part.type === 'thinking') {
        if (part.signature === undefined || part.signature === '') return 'thinking.signature: Field required'
        if (this.#thoughts.get(part.signature) !== part.thinking) return 'Invalid `signature` in `thinking` block'
      }
      if (part.type === 'redacted_thinking' && !this.#thoughts.has(part.data ?? '')) return 'Invalid `data`'
      const wrong = part.source?.type === 'base64' ? wrongImage(part.source.data, part.source.media_type) : undefined
      if (part.type === 'image' && wrong !== undefined) return `image.source.base64: ${wrong}`
      if (isNoPdf(part)) return 'document.source: The PDF specified was not valid.'
      const inner = part.type === 'tool_result' ? wrongInResult(part) : undefined
      if (inner !== undefined) return inner
    }
    return undefined
  }

  #wrongInReply(message: Said, next: Said | undefined, isLast: boolean): string | undefined {
    const parts = partsOf(message)
    const last = parts.at(-1)!
    if (isThought(last)) return 'The final block in an assistant message cannot be `thinking`.'
    const found = parts.filter(isSearchResult).map((part) => part.tool_use_id)
    const searching = parts.filter(({ type, id }) => type === 'server_tool_use' && !found.includes(id))
    if (searching.length > 0 && !isLast)
      return `\`web_search\` tool use with id ${searching[0]!.id} was found without a corresponding result block`
    if (isLast && searching.length === 0) return 'This model does not support assistant message prefill.'
    if (isLast && last.type === 'text' && /\s$/.test(last.text ?? ''))
      return 'final assistant content cannot end with trailing whitespace'
    const calls = parts.filter(({ type }) => type === 'tool_use').map(({ id }) => id)
    const answers = next === undefined ? [] : partsOf(next).filter(({ type }) => type === 'tool_result')
    const missing = calls.filter((id) => answers.filter((part) => part.tool_use_id === id).length !== 1)
    if (missing.length > 0) return `\`tool_use\` ids were found without \`tool_result\` blocks: ${missing.join()}`
    return undefined
  }

  reply(isTame: boolean): readonly string[] {
    const dice = this.#dice
    const events = [start()]
    if (isTame) return [...events, ...this.#text(0, 'fine'), ...end('end_turn')]
    let index = 0
    let hasCall = false
    let isSearching = false
    const add = (kind: 'think' | 'text' | 'call' | 'search'): void => {
      const at = index++
      if (kind === 'think') events.push(...this.#think(at))
      else if (kind === 'text') events.push(...this.#text(at, someText(dice)))
      else if (kind === 'call') {
        hasCall = true
        events.push(...this.#call(at))
      } else {
        const id = `srvtoolu_${++this.#made}`
        events.push(
          ...block(at, { type: 'server_tool_use', id, name: 'web_search', input: {} }, [json('{"query":"x"}')]),
        )
        isSearching = dice.percent(50)
        if (!isSearching)
          events.push(...block(index++, { type: 'web_search_tool_result', tool_use_id: id, content: [] }, []))
      }
    }
    if (dice.percent(60)) add('think')
    if (dice.percent(60)) add('text')
    for (let calls = dice.int(0, 3); calls > 0; calls--) {
      add('call')
      if (dice.percent(15)) add('text')
      if (dice.percent(15)) add('think')
    }
    if (dice.percent(8)) add('search')
    if (dice.percent(15)) add('think')
    const ends = ['max_tokens', 'refusal', 'stop_sequence', 'model_context_window_exceeded', 'who_knows']
    const usual = isSearching ? 'pause_turn' : hasCall ? 'tool_use' : 'end_turn'
    events.push(...end(dice.percent(12) ? dice.pick(ends)! : usual))
    return events
  }

  #think(index: number): readonly string[] {
    const name = `sig${++this.#made}`
    if (this.#dice.percent(20)) {
      this.#thoughts.set(name, '')
      return block(index, { type: 'redacted_thinking', data: name }, [])
    }
    const thinking = `thought ${name}`
    // What breaks off before the signature is never known.
    this.#thoughts.set(name, thinking)
    return block(index, { type: 'thinking', thinking: '', signature: '' }, [
      { type: 'thinking_delta', thinking },
      { type: 'signature_delta', signature: name },
    ])
  }

  #text(index: number, text: string): readonly string[] {
    return block(index, { type: 'text', text: '' }, [{ type: 'text_delta', text }])
  }

  #call(index: number): readonly string[] {
    const id = someCallId(this.#dice, `toolu_${++this.#made}`)
    return block(index, { type: 'tool_use', id, name: someName(this.#dice), input: {} }, [json(someInput(this.#dice))])
  }
}

const isNoPdf = ({ type, source }: Part): boolean =>
  type === 'document' && source?.type === 'base64' && !isPdf(source.data)

function wrongInResult({ is_error: isError, content = '' }: Part): string | undefined {
  const parts: readonly Part[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  if (isError === true && parts.every(({ text }) => text === '')) return 'content cannot be empty if is_error is true'
  for (const part of parts) {
    const { type, text, source } = part
    if (isNoPdf(part)) return 'tool_result: document.source: The PDF specified was not valid.'
    if (typeof content !== 'string' && type === 'text' && (text ?? '').trim() === '')
      return 'tool_result: text content blocks must contain non-whitespace text'
    const wrong = source?.type === 'base64' ? wrongImage(source.data, source.media_type) : undefined
    if (type === 'image' && wrong !== undefined) return `tool_result: image.source.base64: ${wrong}`
  }
  return undefined
}

function wrongInSaid(message: Said, before: Said | undefined): string | undefined {
  const parts = partsOf(message)
  const results = parts.filter(({ type }) => type === 'tool_result')
  const calls = before?.role === 'assistant' ? partsOf(before).filter(({ type }) => type === 'tool_use') : []
  const odd = results.find((part) => !calls.some(({ id }) => id === part.tool_use_id))
  if (odd !== undefined) return `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${odd.tool_use_id}`
  return parts.slice(0, results.length).every(({ type }) => type === 'tool_result')
    ? undefined
    : 'tool_result blocks must come first'
}

const event = (data: { readonly type: string; readonly [field: string]: unknown }): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`

const json = (text: string): Json => ({ type: 'input_json_delta', partial_json: text })

const block = (index: number, first: Json, deltas: readonly Json[]): readonly string[] => [
  event({ type: 'content_block_start', index, content_block: first }),
  ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
  event({ type: 'content_block_stop', index }),
]

const start = (): string =>
  event({
    type: 'message_start',
    message: {
      id: 'msg',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 10, output_tokens: 1 },
    },
  })

const end = (reason: string): readonly string[] => [
  event({
    type: 'message_delta',
    delta: { stop_reason: reason, stop_sequence: null },
    usage: { output_tokens: 5 },
  }),
  event({ type: 'message_stop' }),
]
