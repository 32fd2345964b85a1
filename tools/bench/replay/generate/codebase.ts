import { areas, nouns, prose, verbs } from './project.ts'
import type { Random } from './random.ts'

export interface SourceFile {
  readonly path: string
  /** The names that it defines. */
  readonly names: readonly string[]
  readonly lines: readonly string[]
}

/** Size of a thing in tokens: log-normal about a median, at most so much. */
export interface Size {
  readonly median: number
  readonly spread: number
  readonly most: number
}

export const sizeFrom = (random: Random, { median, spread, most }: Size): number =>
  Math.round(Math.min(most, random.logNormal(median, spread)))

const tokensPerName = 15
const charsPerToken = 4

/** A made-up project, whose files come into being as they are looked at. */
export class Codebase {
  readonly #random: Random
  readonly #size: Size
  readonly files: SourceFile[] = []

  /** `size`: of its files. */
  constructor(random: Random, size: Size) {
    this.#random = random
    this.#size = size
  }

  /** Another file, that uses names of some before it. */
  create(): SourceFile {
    const random = this.#random
    const at = this.files.length
    const tokens = sizeFrom(random, this.#size)
    const area = random.pick(areas)
    const names = Array.from({ length: Math.max(3, Math.min(600, Math.round(tokens / tokensPerName))) }, (_, index) =>
      nameFrom(random, `${at}x${index}`),
    )
    const others = this.files.length === 0 ? names : random.pick(this.files).names
    const path = `src/${area}/${random.pick(verbs)}${random.pick(nouns)}${at}.ts`
    const lines = [`// ${path}`]
    for (let chars = 0; chars < tokens * charsPerToken; chars += lines.at(-1)!.length)
      lines.push(lineOf(random, names, others))
    const file = { path, names, lines }
    this.files.push(file)
    return file
  }
}

export const nameFrom = (random: Random, ending: string): string =>
  `${random.pick(verbs)}${random.pick(nouns)}${ending}`

function lineOf(random: Random, names: readonly string[], others: readonly string[]): string {
  if (random.chance(0.25)) return `  // ${prose(random, random.between(8, 16))}`
  const name = (): string => random.pick(random.chance(0.9) ? names : others)
  return `  const step${random.between(1, 40)} = ${name()}(input, ${name()}) // ${prose(random, random.between(3, 9))}`
}

/** About so many tokens of prose. */
export const proseOf = (random: Random, tokens: number): string => prose(random, Math.max(1, Math.round(tokens * 0.88)))
