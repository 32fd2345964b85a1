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

/** How many texts are taken in before others have their turn. */
const chunkSize = 200

/** Finds records by their words. Records that it is told to hold are taken in when it is asked next. */
export class WordIndex {
  #wanted: readonly MemoryRecord[] = []
  #index: MiniSearch<Doc> | undefined
  /** Texts in the index, by id. */
  readonly #held = new Map<string, string>()
  /** One search at a time: each may have to take something in first. */
  #last: Promise<unknown> = Promise.resolve()

  /** Tells it which records there are now. */
  hold(records: readonly MemoryRecord[]): void {
    this.#wanted = records
  }

  /** The ids of records with at least one of the words, the best first. */
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

/** The end of a word may be missing or, if it is long, be another: nothing is known of the language. */
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
