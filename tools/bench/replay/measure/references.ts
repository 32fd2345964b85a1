import { namesIn } from './names.ts'
import type { MeasuredBlock } from './requestBlocks.ts'

/** The names of what the agent wrote next that it had met before, by where the request shows them. */
export interface References {
  /** All of them. */
  readonly met: number
  /** Those that stand only in an index. */
  readonly indexOnly: readonly string[]
  /** Those that the request does not show at all. */
  readonly dangling: readonly string[]
}

/** Follows a session's requests, each mostly the one before with more at its end, and knows which names they show. */
export class NameTracker {
  readonly #met = new Set<string>()
  readonly #shown = new Map<string, number>()
  readonly #indexed = new Map<string, number>()
  #blocks: readonly MeasuredBlock[] = []

  /** Names that people, the agent or its tools have used by now. */
  meet(names: readonly string[]): void {
    for (const name of names) this.#met.add(name)
  }

  /** Counts the references in `written`, the names in the reply to a request of these blocks. */
  refer(blocks: readonly MeasuredBlock[], written: readonly string[]): References {
    this.show(blocks)
    const met = written.filter((name) => this.#met.has(name))
    const hidden = met.filter((name) => !this.#shown.has(name))
    return {
      met: met.length,
      indexOnly: hidden.filter((name) => this.#indexed.has(name)),
      dangling: hidden.filter((name) => !this.#indexed.has(name)),
    }
  }

  /** Goes over to the next request. */
  show(blocks: readonly MeasuredBlock[]): void {
    let shared = 0
    while (shared < blocks.length && blocks[shared] === this.#blocks[shared]) shared += 1
    for (const block of this.#blocks.slice(shared)) this.#count(block, -1)
    for (const block of blocks.slice(shared)) this.#count(block, 1)
    this.#blocks = blocks
  }

  #count({ words, isIndex }: MeasuredBlock, by: 1 | -1): void {
    const counts = isIndex ? this.#indexed : this.#shown
    for (const name of namesIn(words)) {
      const count = (counts.get(name) ?? 0) + by
      if (count === 0) counts.delete(name)
      else counts.set(name, count)
    }
  }
}
