import type MiniSearch from 'minisearch'
import { loadPeer } from '../../../../src/protocol/ports/loadPeer.ts'
import type { MemoryRecord } from '../../../../src/protocol/ports/memory.ts'
import { queryWords, wordsOf } from './words.ts'

interface Doc {
  readonly id: string
  readonly text: string
}

interface Found {
  readonly id: string
  readonly score: number
}

/** Number of texts that are indexed before other work gets its turn. */
const chunkSize = 200

/** Finds records by their words. Records passed to `hold` are indexed at the next search. */
export class WordIndex {
  #wanted: readonly MemoryRecord[] = []
  #index: MiniSearch<Doc> | undefined
  /** Texts in the index, by id. */
  readonly #held = new Map<string, string>()
  /** Last search, for which the next one waits, because each may have to index texts first. */
  #last: Promise<unknown> = Promise.resolve()

  /** Sets the records of the index. */
  hold(records: readonly MemoryRecord[]): void {
    this.#wanted = records
  }

  /** Resolves with the ids of records that have at least one of the words, the best first. */
  search(query: string): Promise<readonly Found[]> {
    const words = queryWords(query)
    if (words.length === 0 || this.#wanted.length === 0) return Promise.resolve([])
    const found = this.#last.then(() => this.#find(words))
    this.#last = found.catch(() => {})
    return found
  }

  async #find(words: readonly string[]): Promise<readonly Found[]> {
    const index = (this.#index ??= await emptyIndex())
    const docs = new Map(this.#wanted.map(({ id, text }) => [id, text]))
    for (const [id, text] of this.#held) {
      if (docs.get(id) === text) continue
      index.discard(id)
      this.#held.delete(id)
    }
    const fresh = [...docs].flatMap(([id, text]) => (this.#held.has(id) ? [] : [{ id, text }]))
    await index.addAllAsync(fresh, { chunkSize })
    for (const { id, text } of fresh) this.#held.set(id, text)
    return index
      .search({ combineWith: 'OR', queries: words.map((word) => ({ queries: [word], ...howToFind(word) })) })
      .map(({ id, score }) => ({ id: id as string, score }))
  }
}

/** Returns search options for a word. Its end may be missing or, in a long word, differ, since the language is unknown. */
const howToFind = (word: string) => ({ prefix: word.length > 3, fuzzy: word.length > 5 ? 0.2 : false })

async function emptyIndex(): Promise<MiniSearch<Doc>> {
  const { default: Index } = await loadPeer(() => import('minisearch'), 'markdownMemory', 'minisearch')
  return new Index<Doc>({
    fields: ['text'],
    tokenize: wordsOf,
    processTerm: (word) => word,
    searchOptions: { tokenize: (query) => [query] },
  })
}
