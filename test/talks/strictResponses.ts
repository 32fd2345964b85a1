import type { AiSdkModel } from '../../src/aiSdk.ts'
import type { Dice } from '../tree/dice.ts'
import { judge } from '../judges/judge.ts'
import { isPdf } from '../../src/protocol/text/pictureBytes.ts'
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

interface Item {
  readonly type?: string
  readonly role?: string
  readonly id?: string
  readonly call_id?: string
  readonly name?: string
  readonly arguments?: string
  readonly content?: string | readonly Content[]
  readonly output?: string | readonly Content[]
}

interface Content {
  readonly type: string
  readonly text?: string
  readonly image_url?: string
  readonly file_data?: string
}

interface OpenAiPackage {
  createOpenAI(settings: {
    readonly apiKey: string
    readonly baseURL: string
    readonly fetch: typeof globalThis.fetch
  }): {
    (model: string): AiSdkModel
    readonly tools: { webSearch(options: object): object }
  }
}

/** OpenAI Responses; its package is one that `npm ci` does not install. */
export async function responsesTalks(): Promise<ProviderFamily> {
  const { createOpenAI } = await judge<OpenAiPackage>('@ai-sdk/openai')
  const connected = (fetch: typeof globalThis.fetch) => createOpenAI({ apiKey: 'k', baseURL: 'http://talk', fetch })
  return {
    name: 'OpenAI Responses',
    provider: (dice) => new StrictResponses(dice),
    model: (fetch) => connected(fetch)('gpt-5'),
    tools: (fetch) => [{ web_search: connected(fetch).tools.webSearch({}) }],
  }
}

/** Items that may follow what was thought. */
const followers: ReadonlySet<unknown> = new Set(['message', 'function_call', 'reasoning', 'web_search_call'])

class StrictResponses implements StrictProvider {
  readonly #dice: Dice
  /** The items that it made, by id. */
  readonly #known = new Map<string, Item>()
  #made = 0

  constructor(dice: Dice) {
    this.#dice = dice
  }

  refuses(body: Json): string | undefined {
    const { input = [], tools = [] } = body as { input?: readonly Item[]; tools?: readonly Json[] }
    if (!isWhole(body)) return 'We could not parse the JSON body of your request.'
    if (!input.some(({ role, type }) => role === 'user' || type === 'function_call_output')) return 'Missing input.'
    const wrong = wrongTools(tools, (tool) => (tool['type'] === 'function' ? (tool['parameters'] ?? {}) : undefined))
    if (wrong !== undefined) return wrong
    const items = input.map((item) => (item.type === 'item_reference' ? this.#known.get(item.id ?? '') : item))
    const ids = new Set<string>()
    const open = new Set<string>()
    for (const [at, item] of items.entries()) {
      if (item === undefined) return `Item with id '${input[at]!.id}' not found.`
      const { type, id, call_id: callId } = item
      if (id !== undefined && ids.has(id)) return `Duplicate item found with id ${id}.`
      if (id !== undefined) ids.add(id)
      if (type === 'reasoning' && !followers.has(kindOf(items[at + 1])))
        return `Item '${id}' of type 'reasoning' was provided without its required following item.`
      if (callId !== undefined && (callId === '' || callId.length > 64)) return `input[${at}].call_id: bad length`
      if (type === 'function_call') {
        if (!/^[\w-]{1,64}$/.test(item.name ?? '')) return `input[${at}].name: does not match pattern`
        if (open.has(callId!)) return `Duplicate function call ${callId}.`
        open.add(callId!)
      }
      if (type === 'function_call_output' && !open.delete(callId!))
        return `No tool call found for function call output with call_id ${callId}.`
      const fault = wrongContent(item.content) ?? wrongContent(item.output)
      if (fault !== undefined) return `input[${at}]: ${fault}`
      if (item.role === 'user' && item.content?.length === 0) return `input[${at}].content: empty`
    }
    return open.size > 0 ? `No tool output found for function call ${[...open].join()}.` : undefined
  }

  reply(isTame: boolean): readonly string[] {
    const dice = this.#dice
    const events = [
      event({ type: 'response.created', response: { id: this.#id('resp'), created_at: 1, model: 'gpt-5' } }),
    ]
    let index = 0
    const add = (kind: 'think' | 'text' | 'call' | 'search'): void => {
      if (kind === 'think') events.push(...this.#think(index++))
      else if (kind === 'text') events.push(...this.#text(index++, isTame ? 'fine' : someText(dice)))
      else if (kind === 'call') events.push(...this.#call(index++))
      else events.push(...this.#search(index++))
    }
    if (isTame) add('text')
    else {
      if (dice.percent(60)) {
        add('think')
        add(dice.percent(50) ? 'text' : 'call')
      }
      for (let calls = dice.int(0, 2); calls > 0; calls--) {
        if (dice.percent(30)) add('think')
        add('call')
      }
      if (dice.percent(8)) add('search')
      if (dice.percent(25)) add('text')
      // A reply that was cut off may end so.
      if (dice.percent(10)) add('think')
    }
    const reason =
      isTame || dice.percent(88) ? undefined : dice.pick(['max_output_tokens', 'content_filter', 'who_knows'])
    events.push(
      event({
        type: reason === undefined ? 'response.completed' : 'response.incomplete',
        response: {
          incomplete_details: reason === undefined ? null : { reason },
          usage: {
            input_tokens: 10,
            output_tokens: 5,
            input_tokens_details: { cached_tokens: 0 },
            output_tokens_details: { reasoning_tokens: 0 },
          },
        },
      }),
    )
    return events
  }

  #id(kind: string): string {
    return `${kind}_${++this.#made}`
  }

  /** An item from its beginning to its end; it is known from there on. */
  #item(
    index: number,
    item: Item & { readonly id: string },
    first: Json,
    pieces: readonly Json[],
    last: Json,
  ): string[] {
    this.#known.set(item.id, item)
    const { type, id } = item
    return [
      event({ type: 'response.output_item.added', output_index: index, item: { type, id, ...first } }),
      ...pieces.map((piece) => event({ item_id: id, output_index: index, ...piece })),
      event({ type: 'response.output_item.done', output_index: index, item: { type, id, ...last } }),
    ]
  }

  #think(index: number): string[] {
    const id = this.#id('rs')
    const part = { summary_index: 0 }
    const pieces = [
      { type: 'response.reasoning_summary_part.added', ...part },
      { type: 'response.reasoning_summary_text.delta', ...part, delta: 'thinking' },
    ]
    const last = { encrypted_content: `enc_${id}` }
    return this.#item(index, { type: 'reasoning', id }, { encrypted_content: null }, pieces, last)
  }

  #text(index: number, text: string): string[] {
    const piece = { type: 'response.output_text.delta', content_index: 0, delta: text }
    return this.#item(index, { type: 'message', id: this.#id('msg') }, {}, [piece], {})
  }

  #call(index: number): string[] {
    const callId = someCallId(this.#dice, this.#id('call'))
    const [name, given] = [someName(this.#dice), someInput(this.#dice)]
    const item = { type: 'function_call', id: this.#id('fc'), call_id: callId, name, arguments: given }
    const piece = { type: 'response.function_call_arguments.delta', delta: given }
    const called = { call_id: callId, name }
    return this.#item(index, item, { ...called, arguments: '' }, [piece], {
      ...called,
      arguments: given,
      status: 'completed',
    })
  }

  #search(index: number): string[] {
    const item = { type: 'web_search_call', id: this.#id('ws') }
    const done = { status: 'completed', action: { type: 'search', query: 'x' } }
    return this.#item(index, item, { status: 'in_progress', action: done.action }, [], done)
  }
}

const kindOf = (item: Item | undefined): string | undefined =>
  item?.type ?? (item?.role === 'assistant' ? 'message' : item?.role)

function wrongContent(content: string | readonly Content[] | undefined): string | undefined {
  if (content === undefined || typeof content === 'string') return undefined
  for (const { type, image_url: image, file_data: file } of content) {
    const [, mimeType = '', data = ''] = /^data:([^;]*);base64,(.*)$/s.exec(image ?? file ?? '') ?? []
    const wrong = image?.startsWith('data:') === true ? wrongImage(data, mimeType) : undefined
    if (type === 'input_image' && wrong !== undefined) return `image_url: ${wrong}`
    if (type === 'input_file' && !isPdf(data)) return 'input_file: The file is no PDF.'
  }
  return undefined
}

const event = (data: Json): string => `data: ${JSON.stringify(data)}\n\n`
