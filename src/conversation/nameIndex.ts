import { formatNodeId, type NodeId } from '../protocol/ids.ts'
import type { Conversation } from './conversation.ts'
import { namesIn, namesOf } from './names.ts'
import type { ConversationNode } from './node.ts'

/** What is known of a name. Places count the steps of the log. */
interface Entry {
  /** The hidden step that says most about it, the newest of equals; 0 while none holds it. */
  home: NodeId
  worth: number
  homePlace: number
  /** How often the agent itself wrote it, and when last. */
  uses: number
  lastUse: number
}

/**
 * What is known of the names of a conversation. It goes on from where it stood at the last fold, so that a fold costs what is new; made
 * anew from the same log it knows the same.
 */
class NameLedger {
  readonly entries = new Map<string, Entry>()
  readonly #housed = new Set<NodeId>()
  /** Of steps that are not housed yet. */
  readonly #names = new Map<NodeId, ReadonlyMap<string, number>>()
  readonly #places = new Map<NodeId, number>()
  #last: NodeId = 0
  #steps = 0

  get now(): number {
    return this.#steps
  }

  /** Whether every step that it holds for hidden can still be told as hidden. */
  holdsFor(conversation: Conversation): boolean {
    for (const step of this.#housed) if (!conversation.onTrunk(step)) return false
    return true
  }

  /** Counts what the agent wrote since the last time, abandoned or not. */
  learn(conversation: Conversation): void {
    for (let id = this.#last + 1; id <= conversation.lastNodeId; id++) {
      this.#last = id
      const node = conversation.node(id)
      if (node === undefined) continue
      if (node.id === node.stepId) this.#places.set(id, (this.#steps += 1))
      if (node.message.role !== 'assistant') continue
      for (const name of this.namesOf(node).keys()) {
        const entry = this.#entry(name)
        entry.uses += 1
        entry.lastUse = this.#steps
      }
    }
  }

  /** Kept while a step is shown, as every fold asks for them again. */
  namesOf(node: ConversationNode): ReadonlyMap<string, number> {
    let names = this.#names.get(node.id)
    if (names === undefined) this.#names.set(node.id, (names = namesOf(node)))
    return names
  }

  /** Takes in a node of a hidden step of the trunk. */
  house(node: ConversationNode): void {
    if (this.#housed.has(node.id)) return
    this.#housed.add(node.id)
    const home = node.stepId
    const homePlace = this.#places.get(home) ?? 0
    for (const [name, worth] of this.namesOf(node)) {
      const entry = this.#entry(name)
      if (entry.home !== 0 && (entry.worth > worth || (entry.worth === worth && entry.home > home))) continue
      entry.home = home
      entry.worth = worth
      entry.homePlace = homePlace
    }
    this.#names.delete(node.id)
  }

  #entry(name: string): Entry {
    let entry = this.entries.get(name)
    if (entry === undefined) {
      entry = { home: 0, worth: 0, homePlace: 0, uses: 0, lastUse: 0 }
      this.entries.set(name, entry)
    }
    return entry
  }
}

const ledgers = new WeakMap<Conversation, NameLedger>()

function ledgerOf(conversation: Conversation): NameLedger {
  const known = ledgers.get(conversation)
  if (known?.holdsFor(conversation) === true) return known
  const ledger = new NameLedger()
  ledgers.set(conversation, ledger)
  return ledger
}

/** How useful a name is likely to be: what it says, how often and how lately the agent wrote it, how old its home is. */
const scoreOf = ({ worth, homePlace, uses, lastUse }: Entry, now: number): number =>
  worth -
  0.5 * Math.log2(1 + now - homePlace) +
  (uses === 0 ? 0 : 2 * Math.log2(1 + uses) + Math.max(0, 6 - Math.log2(1 + now - lastUse)))

/** No index has room for more. */
const mostNames = 4_000

/**
 * The names that stand in hidden steps alone, the most useful first until `maxChars` are filled, in lines: a step's id, then the names
 * that are found there. `written` is what the request shows in place of hidden steps. Pure.
 */
export function nameIndex(
  conversation: Conversation,
  isHidden: (node: ConversationNode) => boolean,
  written: string,
  maxChars: number,
): string {
  const ledger = ledgerOf(conversation)
  ledger.learn(conversation)
  const present = namesIn(written)
  for (const node of conversation.path) {
    if (isHidden(node)) ledger.house(node)
    else for (const name of ledger.namesOf(node).keys()) present.add(name)
  }
  const lost: { name: string; entry: Entry; score: number }[] = []
  for (const [name, entry] of ledger.entries) {
    if (entry.home === 0 || present.has(name) || !isHidden(conversation.node(entry.home)!)) continue
    lost.push({ name, entry, score: scoreOf(entry, ledger.now) })
  }
  return linesOf(best(lost, mostNames), maxChars)
}

/** The highest scores first. To sort all names of a long conversation would take most of a fold's time. */
function best<T extends { readonly score: number }>(items: readonly T[], most: number): readonly T[] {
  const scores = Float64Array.from(items, ({ score }) => score).toSorted()
  const least = scores[Math.max(0, scores.length - most)] ?? 0
  return items.filter(({ score }) => score >= least).toSorted((a, b) => b.score - a.score)
}

function linesOf(ranked: readonly { readonly name: string; readonly entry: Entry }[], maxChars: number): string {
  const groups = new Map<NodeId, string[]>()
  let left = maxChars
  for (const { name, entry } of ranked) {
    const group = groups.get(entry.home)
    left -= name.length + 1 + (group === undefined ? formatNodeId(entry.home).length + 1 : 0)
    if (left < 0) break
    if (group === undefined) groups.set(entry.home, [name])
    else group.push(name)
  }
  return [...groups]
    .toSorted(([a], [b]) => a - b)
    .map(([home, names]) => `${formatNodeId(home)} ${names.join(' ')}`)
    .join('\n')
}
