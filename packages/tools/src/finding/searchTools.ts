import { foldText } from '../../../../src/protocol/text/foldText.ts'
import type { JsonSchema } from '../../../../src/protocol/ports/model.ts'

interface Searchable {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonSchema
}

/** Index of words in tools. */
export interface ToolIndex<T extends Searchable> {
  readonly tools: readonly T[]
  /** Weighted number of occurrences of each word, by the index of the tool. */
  readonly words: ReadonlyMap<string, ReadonlyMap<number, number>>
  /** Weighted number of words of each tool, and the mean over all tools. */
  readonly lengths: readonly number[]
  readonly meanLength: number
}

/** Weights of an occurrence: a tool's name says more about it than its description, and the description more than the names of its arguments. */
const weights = { name: 3, description: 1, argument: 0.5 }
/** The usual constants of BM25: how fast further occurrences lose weight, and how much length counts. */
const saturation = 1.2
const lengthShare = 0.75
/** Weight of a word that only begins with the wanted one. */
const beginning = 0.5
/** Share of the best score from which a tool counts as close to the query. */
const closeness = 0.6
const fewestLetters = 3
const mostWords = 32
const mostDescriptionChars = 4_000
const mostArguments = 100
const deepestArgument = 3

/** Indexes tools for searches. Takes time linear in the length of their texts; a search takes time linear in the number of their words. Pure. */
export function indexOf<T extends Searchable>(tools: readonly T[]): ToolIndex<T> {
  const words = new Map<string, Map<number, number>>()
  const lengths = tools.map(({ name, description, inputSchema }, place) => {
    const parts = [
      [name, weights.name],
      [description.slice(0, mostDescriptionChars), weights.description],
      [argumentsOf(inputSchema).join(' '), weights.argument],
    ] as const
    let length = 0
    for (const [text, weight] of parts)
      for (const word of wordsOf(text)) {
        const places = words.get(word) ?? new Map<number, number>()
        words.set(word, places.set(place, (places.get(place) ?? 0) + weight))
        length += weight
      }
    return length
  })
  const meanLength = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length)
  return { tools, words, lengths, meanLength }
}

/** The tools that match a query, the best first. */
export interface FoundTools<T extends Searchable> {
  /** Tools that the query names, and tools that match it about as well as the best. */
  readonly close: readonly T[]
  /** Tools that match the query less well. */
  readonly others: readonly T[]
}

/** Returns the tools that match a query: those that it names, then by BM25 over their words. Pure. */
export function searchTools<T extends Searchable>(index: ToolIndex<T>, query: string): FoundTools<T> {
  const scores = new Map<number, number>()
  for (const word of [...new Set(wordsOf(query))].slice(0, mostWords)) {
    const places = placesOf(index, word)
    const rarity = Math.log(1 + (index.tools.length - places.size + 0.5) / (places.size + 0.5))
    for (const [place, count] of places) {
      const length = 1 - lengthShare + (lengthShare * index.lengths[place]!) / index.meanLength
      const score = (rarity * count * (saturation + 1)) / (count + saturation * length)
      scores.set(place, (scores.get(place) ?? 0) + score)
    }
  }
  const named = new Set(query.match(/[A-Za-z0-9_-]+/g))
  const isNamed = (place: number): boolean => named.has(index.tools[place]!.name)
  const ranked = [...scores].toSorted(([a, x], [b, y]) => Number(isNamed(b)) - Number(isNamed(a)) || y - x || a - b)
  const best = Math.max(...scores.values())
  const isClose = ([place, score]: readonly [number, number]): boolean => isNamed(place) || score >= closeness * best
  const toolOf = ([place]: readonly [number, number]): T => index.tools[place]!
  return {
    close: ranked.filter(isClose).map(toolOf),
    others: ranked.filter((one) => !isClose(one)).map(toolOf),
  }
}

/** Returns the tools with a word, or one that begins with it, and its weighted number of occurrences in each. */
function placesOf({ words }: ToolIndex<Searchable>, word: string): ReadonlyMap<number, number> {
  const exact = words.get(word)
  if (word.length < fewestLetters) return exact ?? new Map<number, number>()
  const places = new Map(exact)
  for (const [other, held] of words) {
    if (other === word || !other.startsWith(word)) continue
    for (const [place, count] of held) places.set(place, (places.get(place) ?? 0) + beginning * count)
  }
  return places
}

/** Returns the names of arguments, nested ones included. */
function argumentsOf(schema: unknown, names: string[] = [], depth = 0): readonly string[] {
  if (typeof schema !== 'object' || schema === null || depth > deepestArgument) return names
  const { properties, items } = schema as { readonly properties?: unknown; readonly items?: unknown }
  if (typeof properties === 'object' && properties !== null)
    for (const [name, field] of Object.entries(properties)) {
      if (names.length >= mostArguments) return names
      names.push(name)
      argumentsOf(field, names, depth + 1)
    }
  return argumentsOf(items, names, depth + 1)
}

/** Matches a word. In scripts without spaces each character counts as a word. */
const word = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]|[\p{L}\p{M}\p{N}]+/gu

/** Returns the words of a text in lower case, with names split into parts and plural endings removed. */
const wordsOf = (text: string): readonly string[] =>
  (foldText(text.replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2').replaceAll('_', ' ')).match(word) ?? []).map(singular)

const singular = (text: string): string =>
  text.length > fewestLetters && /[^su]s$/.test(text) ? text.replace(/(?<=..)ies$/, 'y').replace(/s$/, '') : text
