import { namesIn, wordsOf } from '../../../../../src/conversation/names/names.ts'
import { recallName } from '../../../../../src/conversation/tree/stepText.ts'
import { estimateTokens } from '../../../../../src/conversation/limits/tokenCounter.ts'
import type { ConversationView } from '../../../../../src/conversation/tree/conversationView.ts'
import type { AgentEvent } from '../../../../../src/protocol/events.ts'
import { toolCallsOf, type AssistantMessage, type Block, type Message } from '../../../../../src/protocol/messages.ts'
import type { ModelRequest } from '../../../../../src/protocol/ports/model.ts'

/** Prices per token relative to fresh, uncached input tokens: the ratios of most providers. */
export const priceRatios = { cached: 0.1, written: 1.25, output: 5 } as const

/** Requests as a provider would bill them, in estimated tokens: as sent, and as they would have been without folding. */
export interface Measured {
  /** The size of each request. */
  readonly sent: readonly number[]
  /** The same without folding; requests that only recalled something are left out. */
  readonly unmanaged: readonly number[]
  /** Total cost, in fresh input tokens. */
  readonly cost: { readonly sent: number; readonly unmanaged: number }
  /** Counts of names used by the agent that it had met before: all of them, those present only in the index, and those no longer present at all. */
  readonly names: { readonly used: number; readonly indexOnly: number; readonly lost: number }
}

/** Measures the requests of an agent, event by event. */
export class RequestMeter {
  readonly #sent: number[] = []
  readonly #unmanaged: number[] = []
  readonly #cost = { sent: 0, unmanaged: 0 }
  readonly #names = { used: 0, indexOnly: 0, lost: 0 }
  readonly #met = new Set<string>()
  /** Names in each block; blocks stay the same objects from request to request. */
  readonly #namesOf = new WeakMap<Block, ReadonlySet<string>>()
  #blocks: readonly CountedBlock[] = []
  #previous: readonly CountedBlock[] = []
  #frame = 0
  /** Tokens of the trunk that are there only because something was recalled. */
  #recalled = 0
  #pending: { readonly sent: number; readonly unmanaged: number; readonly cached: number } | undefined

  get measured(): Measured {
    return { sent: this.#sent, unmanaged: this.#unmanaged, cost: this.#cost, names: this.#names }
  }

  /** Tokens of the last request; 0 before the first. */
  get size(): number {
    return this.#sent.at(-1) ?? 0
  }

  /** Takes in the next event; `conversation` is the agent's conversation at this moment. */
  see(event: AgentEvent, conversation: Pick<ConversationView, 'head' | 'node'>): void {
    if (event.type === 'turn.request') this.#request(event.request, conversation)
    else if (event.type === 'reply.end') this.#reply(event.message)
    else if (event.type === 'tool.end' && event.name === recallName)
      this.#recalled += estimateTokens.message(event.message)
  }

  #request(request: ModelRequest, conversation: Pick<ConversationView, 'head' | 'node'>): void {
    this.#frame ||= frameTokens(request)
    this.#blocks = request.messages.flatMap(({ content }) => countedBlocks(content))
    const { head } = conversation
    const path = head === null ? 0 : (conversation.node(head)?.pathTokens ?? 0)
    const shared = this.#blocks.slice(0, sharedBlocks(this.#previous, this.#blocks))
    this.#pending = {
      sent: this.#frame + sumOf(this.#blocks),
      unmanaged: this.#frame + path - this.#recalled,
      cached: this.#previous.length === 0 ? 0 : this.#frame + sumOf(shared),
    }
  }

  #reply(message: AssistantMessage): void {
    if (this.#pending === undefined) return
    const { sent, unmanaged, cached } = this.#pending
    this.#pending = undefined
    this.#previous = this.#blocks
    const output = tokensOf(message.content)
    this.#sent.push(sent)
    this.#cost.sent += costOf(sent, cached, output)
    const calls = toolCallsOf(message.content)
    if (calls.length > 0 && calls.every(({ name }) => name === recallName)) this.#recalled += output
    else {
      this.#cost.unmanaged += costOf(unmanaged, this.#unmanaged.at(-1) ?? 0, output)
      this.#unmanaged.push(unmanaged)
    }
    this.#look(message)
  }

  /** Counts the names in a reply that the agent has met, by their place in the request: in its text, in the index only, or nowhere. */
  #look(message: AssistantMessage): void {
    const shown = new Set<string>()
    const indexed = new Set<string>()
    for (const { block } of this.#blocks) {
      const isIndex = block.type === 'text' && block.text.startsWith('<brake-note kind="index"')
      for (const name of this.#namesIn(block)) (isIndex ? indexed : shown).add(name)
    }
    for (const name of new Set(message.content.flatMap((block) => [...this.#namesIn(block)]))) {
      if (!this.#met.has(name)) continue
      this.#names.used += 1
      if (shown.has(name)) continue
      if (indexed.has(name)) this.#names.indexOnly += 1
      else this.#names.lost += 1
    }
    for (const names of [shown, indexed]) for (const name of names) this.#met.add(name)
  }

  #namesIn(block: Block): ReadonlySet<string> {
    let names = this.#namesOf.get(block)
    if (names === undefined) this.#namesOf.set(block, (names = namesIn(wordsOf({ message: assistantWith([block]) }))))
    return names
  }
}

const frameTokens = ({ system, tools }: ModelRequest): number =>
  estimateTokens.text(system) + estimateTokens.text(JSON.stringify(tools))

const assistantWith = (content: readonly Block[]): Message => ({ role: 'assistant', content }) as AssistantMessage

const tokensOf = (content: readonly Block[]): number => estimateTokens.message(assistantWith(content))

interface CountedBlock {
  readonly block: Block
  readonly tokens: number
}

/** Counts the tokens of each block; the overhead of the message is added to its first block. */
const countedBlocks = (content: readonly Block[]): CountedBlock[] =>
  content.map((block, index) => ({ block, tokens: tokensOf([block]) - (index === 0 ? 0 : tokensOf([])) }))

const sumOf = (blocks: readonly CountedBlock[]): number => blocks.reduce((sum, { tokens }) => sum + tokens, 0)

const costOf = (input: number, cached: number, output: number): number =>
  priceRatios.cached * cached + priceRatios.written * (input - cached) + priceRatios.output * output

function sharedBlocks(a: readonly CountedBlock[], b: readonly CountedBlock[]): number {
  let shared = 0
  while (shared < a.length && shared < b.length && isSame(a[shared]!.block, b[shared]!.block)) shared += 1
  return shared
}

const isSame = (a: Block, b: Block): boolean => a === b || JSON.stringify(a) === JSON.stringify(b)
