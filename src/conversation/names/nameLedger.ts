import type { NodeId } from '../../protocol/ids.ts'
import type { Conversation } from '../tree/conversation.ts'
import { namesOf } from './names.ts'
import type { ConversationNode } from '../tree/node.ts'

/** Entry of a name in the ledger. Positions count the steps of the log. */
export interface NameEntry {
  readonly name: string
  /** The hidden step that says most about the name, the newest of equals; 0 while none contains it. */
  home: NodeId
  worth: number
  homePlace: number
  /** Number of times that the agent wrote the name, and the position of the last one. */
  uses: number
  lastUse: number
}

/** Names of the same worth that the agent never wrote. A name with a newer home always ranks higher. */
interface UnusedNames {
  /** Entries in the order of their homes, unless an older one came last. A name occurs once for each home that it had. */
  entries: NameEntry[]
  isSorted: boolean
  /** Length at which outdated entries are removed. */
  nextSweep: number
}

const firstSweep = 1_000

/**
 * The ledger of the names of a conversation. It continues from its state at the last fold, so a fold costs only the later steps. Its entries depend
 * on the log alone.
 */
export class NameLedger {
  readonly #entries = new Map<string, NameEntry>()
  readonly #used: NameEntry[] = []
  readonly #unused = new Map<number, UnusedNames>()
  readonly #housed = new Set<NodeId>()
  #newestHoused: NodeId = 0
  /** Names of nodes that are shown, kept because every fold asks for them again. */
  readonly #names = new Map<NodeId, ReadonlyMap<string, number>>()
  readonly #places = new Map<NodeId, number>()
  #last: NodeId = 0
  #steps = 0

  /** Returns the ledger of a conversation, or a new one if a revert removed steps that it counts as hidden. */
  static of(conversation: Conversation): NameLedger {
    const known = ledgers.get(conversation)
    if (known !== undefined && (known.#newestHoused === 0 || conversation.onTrunk(known.#newestHoused))) return known
    const ledger = new NameLedger()
    ledgers.set(conversation, ledger)
    return ledger
  }

  get now(): number {
    return this.#steps
  }

  /** Counts the names that the agent wrote since the last time, abandoned or not. Yields after each message. */
  *learn(conversation: Conversation): Generator<void> {
    for (let id = this.#last + 1; id <= conversation.lastNodeId; id++) {
      const node = conversation.node(id)
      // Summaries have ids too, and so have calls that still run.
      if (node === undefined) continue
      this.#last = id
      if (node.id === node.stepId) this.#places.set(id, (this.#steps += 1))
      if (node.message.role !== 'assistant' || node.copiedFrom !== undefined) continue
      for (const name of this.namesOf(node).keys()) {
        const entry = this.#entry(name)
        if (entry.uses === 0) this.#used.push(entry)
        entry.uses += 1
        entry.lastUse = this.#steps
      }
      yield
    }
  }

  namesOf(node: ConversationNode): ReadonlyMap<string, number> {
    let names = this.#names.get(node.id)
    if (names === undefined) this.#names.set(node.id, (names = namesOf(node)))
    return names
  }

  /** Adds the names of a node that belongs to a hidden step of the trunk. */
  house(node: ConversationNode): void {
    if (this.#housed.has(node.id)) return
    this.#housed.add(node.id)
    if (node.id > this.#newestHoused) this.#newestHoused = node.id
    const home = node.stepId
    const homePlace = this.#places.get(home) ?? 0
    for (const [name, worth] of this.namesOf(node)) {
      const entry = this.#entry(name)
      if (entry.home !== 0 && (entry.worth > worth || (entry.worth === worth && entry.home >= home))) continue
      Object.assign(entry, { home, worth, homePlace })
      if (entry.uses === 0) this.#addUnused(entry)
    }
    this.#names.delete(node.id)
  }

  /** Releases the data of nodes that a revert removed. */
  forgetAbandoned(conversation: Conversation): void {
    for (const id of this.#names.keys()) if (!conversation.onTrunk(id)) this.#names.delete(id)
  }

  /** Yields the names that may be among the best `most` for which `isMeant` holds, each once. */
  *candidates(most: number, isMeant: (entry: NameEntry) => boolean): Generator<NameEntry> {
    for (const entry of this.#used) if (entry.home !== 0 && isMeant(entry)) yield entry
    for (const [worth, unused] of this.#unused) {
      if (!unused.isSorted) sweep(unused, worth)
      const seen = new Set<NameEntry>()
      let left = most
      let place = Infinity
      for (let i = unused.entries.length - 1; i >= 0 && (left > 0 || unused.entries[i]!.homePlace === place); i--) {
        const entry = unused.entries[i]!
        if (seen.has(entry) || entry.uses > 0 || entry.worth !== worth) continue
        seen.add(entry)
        if (!isMeant(entry)) continue
        yield entry
        left -= 1
        place = entry.homePlace
      }
    }
  }

  #addUnused(entry: NameEntry): void {
    let unused = this.#unused.get(entry.worth)
    if (unused === undefined) {
      unused = { entries: [], isSorted: true, nextSweep: firstSweep }
      this.#unused.set(entry.worth, unused)
    }
    const before = unused.entries.at(-1)
    if (before !== undefined && before.homePlace > entry.homePlace) unused.isSorted = false
    if (unused.entries.push(entry) >= unused.nextSweep) sweep(unused, entry.worth)
  }

  #entry(name: string): NameEntry {
    let entry = this.#entries.get(name)
    if (entry === undefined) {
      entry = { name, home: 0, worth: 0, homePlace: 0, uses: 0, lastUse: 0 }
      this.#entries.set(name, entry)
    }
    return entry
  }
}

function sweep(unused: UnusedNames, worth: number): void {
  const entries = new Set(unused.entries)
  unused.entries = [...entries]
    .filter((entry) => entry.uses === 0 && entry.worth === worth)
    .toSorted((a, b) => a.homePlace - b.homePlace)
  unused.isSorted = true
  unused.nextSweep = Math.max(firstSweep, 2 * unused.entries.length)
}

const ledgers = new WeakMap<Conversation, NameLedger>()
