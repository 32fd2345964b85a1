import type { Block, Message } from '../../../../../../src/protocol/messages.ts'

/** Values nested deeper than this count as different. */
const mostDepth = 100

/** Tells which messages say the same. Remembers compared messages, so that growing trunks are not read again; messages never change. */
export class SameMessages {
  readonly #same = new WeakMap<Message, Message>()
  readonly #numbers = new WeakMap<Message, number>()
  readonly #kinds = new WeakMap<Message, string>()
  /** Messages that differ from one another, by a key that is quick to compute. */
  readonly #known = new Map<string, { readonly message: Message; readonly number: number }[]>()
  #count = 0

  /** Returns true if two messages say the same. Ids of calls, tokens and receipts do not matter: they differ from run to run. */
  areSame(one: Message, other: Message): boolean {
    if (one === other || this.#same.get(one) === other) return true
    const isSame = this.kindOf(one) === this.kindOf(other) && sameContent(one.content, other.content)
    if (isSame) this.#same.set(one, other)
    return isSame
  }

  /** Returns a number that is the same for messages that say the same. */
  numberOf(message: Message): number {
    const known = this.#numbers.get(message)
    if (known !== undefined) return known
    const key = `${this.kindOf(message)} ${roughly(message.content)}`
    const alike = this.#known.get(key) ?? []
    this.#known.set(key, alike)
    const found = alike.find((other) => this.areSame(message, other.message))
    const number = found?.number ?? this.#count++
    if (found === undefined) alike.push({ message, number })
    this.#numbers.set(message, number)
    return number
  }

  /** Returns the role and the tools of a message. */
  kindOf(message: Message): string {
    const known = this.#kinds.get(message)
    if (known !== undefined) return known
    const kind =
      message.role === 'toolResult'
        ? `${message.role} ${message.toolName} ${message.isError}`
        : `${message.role} ${(message.content as readonly Block[]).flatMap((block) => (block.type === 'toolCall' ? block.name : [])).join(' ')}`
    this.#kinds.set(message, kind)
    return kind
  }
}

const roughly = (content: readonly Block[]): string =>
  content.map((block) => ('text' in block ? `${block.text.length} ${block.text.slice(0, 40)}` : block.type)).join()

function sameContent(one: readonly Block[], other: readonly Block[]): boolean {
  return (
    one.length === other.length &&
    one.every((block, at) => {
      const beside = other[at]!
      if (block.type !== 'toolCall') return block.type === beside.type && isEqual(block, beside, 0)
      return beside.type === 'toolCall' && block.name === beside.name && isEqual(block.input, beside.input, 0)
    })
  )
}

/** Returns true if two values of JSON are equal. */
function isEqual(one: unknown, other: unknown, depth: number): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (depth > mostDepth || Array.isArray(one) !== Array.isArray(other)) return false
  const keys = Object.keys(one)
  return (
    keys.length === Object.keys(other).length &&
    keys.every(
      (key) =>
        Object.hasOwn(other, key) &&
        isEqual((one as Record<string, unknown>)[key], (other as Record<string, unknown>)[key], depth + 1),
    )
  )
}
