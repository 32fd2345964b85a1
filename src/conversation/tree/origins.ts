import { isImported } from '../../protocol/text/nodeIds.ts'
import { toolCallsOf } from '../../protocol/text/messageText.ts'
import type { Provenance, ProvenanceKind } from '../../protocol/provenance.ts'
import type { ConversationNode } from './node.ts'

/** A list that grows at its end and is rarely truncated. Returned views never change, and are copied only when read. */
export class GrowingList<T> {
  #items: T[] = []
  /** Number of items that belong to returned views. */
  #given = 0

  get length(): number {
    return this.#items.length
  }

  get last(): T | undefined {
    return this.#items.at(-1)
  }

  at(index: number): T | undefined {
    return this.#items[index]
  }

  push(item: T): void {
    this.#items.push(item)
  }

  /** Truncates the list to `length`. */
  cut(length: number): void {
    if (length < this.#given) this.#begin(length)
    else this.#items.length = length
  }

  replaceLast(item: T): void {
    this.cut(this.#items.length - 1)
    this.#items.push(item)
  }

  copy(): T[] {
    return this.#items.slice()
  }

  /** Returns a function that returns the current items, the same array each time. They are copied on its first call. */
  later(): () => readonly T[] {
    const items = this.#items
    const { length } = items
    this.#given = length
    let copy: readonly T[] | undefined
    return () => (copy ??= items.slice(0, length))
  }

  /** Continues in a new array, because views still use the old one. */
  #begin(length: number): void {
    this.#items = this.#items.slice(0, length)
    this.#given = 0
  }
}

/** Origin of a message in a request: a node, or something that is not on the trunk. */
export type Origin = ConversationNode | ProvenanceKind

/** Origin of a part of a message, with the index of its first block. */
class MergedOrigin {
  readonly of: Origin
  readonly block: number

  constructor(of: Origin, block: number) {
    this.of = of
    this.block = block
  }
}

/** Origins of one message, in order. */
type Parts = (Origin | MergedOrigin)[]

const originOf = (part: Origin | MergedOrigin): Origin => (part instanceof MergedOrigin ? part.of : part)

const none: readonly never[] = Object.freeze([])

/**
 * The origin of each message of a growing request. Provenance is computed from the nodes on demand, and only from the first difference since the last
 * reading.
 */
export class Origins {
  /** The origin of each message, or the origins merged into it. */
  readonly #origins = new GrowingList<Origin | Parts>()
  #read: readonly (Origin | Parts)[] = none
  #made: readonly Provenance[] = none
  /** The last entry until it is returned. Thousands of origins may be merged into it without copying. */
  #growing: Parts | undefined

  /** Returns the last entry, which does not change afterwards. */
  get last(): Origin | Parts | undefined {
    this.#growing = undefined
    return this.#origins.last
  }

  push(origin: Origin): void {
    this.#origins.push(origin)
  }

  /** Adds an origin to the last message; `block`: the index of its first block. */
  merge(origin: Origin, block: number): void {
    const last = this.#origins.last!
    const part = new MergedOrigin(origin, block)
    if (last === this.#growing) this.#growing.push(part)
    else this.#origins.replaceLast((this.#growing = [last, part].flat()))
  }

  cut(length: number): void {
    this.#origins.cut(length)
  }

  replaceLast(origin: Origin | Parts): void {
    this.#origins.replaceLast(origin)
  }

  /** Returns a function that returns the provenance of the current messages, computed on its first call. */
  later(): () => readonly Provenance[] {
    this.#growing = undefined
    const origins = this.#origins.later()
    let made: readonly Provenance[] | undefined
    return () => (made ??= this.#make(origins()))
  }

  #make(origins: readonly (Origin | Parts)[]): readonly Provenance[] {
    let same = 0
    while (same < origins.length && this.#read[same] === origins[same]) same += 1
    const made = this.#made.slice(0, same)
    const turn = new Turn(origins, same)
    for (let index = same; index < origins.length; index += 1) made.push(turn.provenanceOf(origins[index]!))
    this.#read = origins
    this.#made = made
    return made
  }
}

/** Counts messages within their turn. */
class Turn {
  #index = -1
  #messages = 0

  /** Starts after the first `length` of the origins. */
  constructor(origins: readonly (Origin | Parts)[], length: number) {
    for (let index = length - 1; index >= 0; index -= 1) {
      for (const origin of [origins[index]!].flat().toReversed()) {
        const one = originOf(origin)
        if (!isNode(one)) continue
        if (this.#messages > 0 && one.turnIndex !== this.#index) return
        this.#index = one.turnIndex
        this.#messages += 1
      }
    }
  }

  provenanceOf(origin: Origin | Parts): Provenance {
    if (!Array.isArray(origin)) return this.#kindOf(origin)
    const [first, ...merged] = origin.map((part) => {
      const kind = this.#kindOf(originOf(part))
      return part instanceof MergedOrigin ? { ...kind, block: part.block } : kind
    })
    return { ...first!, merged }
  }

  #kindOf(origin: Origin): ProvenanceKind {
    if (!isNode(origin)) return origin
    if (isImported(origin)) return imported
    const { message, turnIndex } = origin
    if (turnIndex !== this.#index) {
      this.#index = turnIndex
      this.#messages = 0
    }
    const messageIndex = this.#messages++
    if (message.role === 'user' && message.provenance !== undefined) return message.provenance
    if (message.role === 'user' && message.source !== 'prompt') return { type: message.source }
    const calls = message.role === 'assistant' ? toolCallsOf(message.content).length : 0
    return { type: 'loopTurn', turnIndex, role: message.role, messageIndex, ...(calls === 0 ? {} : { calls }) }
  }
}

const imported: ProvenanceKind = Object.freeze({ type: 'imported' })

const isNode = (origin: Origin): origin is ConversationNode => 'message' in origin
