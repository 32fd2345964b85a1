import { namesIn, wordsOf } from '../../../../../src/conversation/names/names.ts'
import { reckoningFold, type Reckoning } from '../../../../sessions/src/savings/reckoning.ts'
import { savingsIn, type Savings } from '../../../../sessions/src/savings/savings.ts'
import type { AgentEvent } from '../../../../../src/protocol/events.ts'
import type { AssistantMessage, Block, Message } from '../../../../../src/protocol/messages.ts'
import type { ModelRequest } from '../../../../../src/protocol/ports/model.ts'
import type { LogRecord } from '../../../../../src/protocol/records.ts'

/** Counts of known names that the agent used: all of them, those present only in the index, and those no longer present. */
export interface NameCounts {
  readonly used: number
  readonly indexOnly: number
  readonly lost: number
}

/** Measures an agent's requests, event by event: their savings, and the names missing from them. */
export class RequestMeter {
  #reckoning: Reckoning = reckoningFold.initial()
  readonly #sent: number[] = []
  readonly #names = { used: 0, indexOnly: 0, lost: 0 }
  readonly #met = new Set<string>()
  /** Names in each block. Blocks stay the same objects across requests. */
  readonly #namesOf = new WeakMap<Block, ReadonlySet<string>>()
  #blocks: readonly Block[] = []

  get names(): NameCounts {
    return this.#names
  }

  get savings(): Savings {
    return savingsIn(this.#reckoning)
  }

  /** Tokens of each request. */
  get sent(): readonly number[] {
    return this.#sent
  }

  /** Tokens of the last request; 0 before the first. */
  get size(): number {
    return this.#sent.at(-1) ?? 0
  }

  /** Takes in the next event. */
  see(event: AgentEvent): void {
    // Events beside those of the log do not count.
    const before = this.#reckoning.sizes.length
    this.#reckoning = reckoningFold.each!(this.#reckoning, event as LogRecord) ?? this.#reckoning
    const { sizes } = this.#reckoning
    if (sizes.length > before) this.#sent.push(sizes.at(-1)!.tokens)
    if (event.type === 'turn.request') this.#blocks = event.request.messages.flatMap(contentOf)
    else if (event.type === 'reply.end') this.#look(event.message)
  }

  /** Counts the names in a reply that the agent has met, by their place in the request: in its text, in the index only, or nowhere. */
  #look(message: AssistantMessage): void {
    const shown = new Set<string>()
    const indexed = new Set<string>()
    for (const block of this.#blocks) {
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

const contentOf = ({ content }: ModelRequest['messages'][number]): readonly Block[] => content

const assistantWith = (content: readonly Block[]): Message => ({ role: 'assistant', content }) as AssistantMessage
