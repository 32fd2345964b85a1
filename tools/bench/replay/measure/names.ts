import type { Block, ModelRequest } from '../../../../src/index.ts'

const word = /[A-Za-z_][A-Za-z0-9_./-]{7,}/g
/** Camel case, an underscore, a dot or slash, or digits: what a word of prose does not have. */
const unlikeProse = /[a-z0-9][A-Z]|_|[./]|[A-Za-z]\d|\d[A-Za-z]/

const known = new Map<string, readonly string[]>()
const maxKnown = 50_000

/** The names in a text: paths, dotted, snake-case and camel-case words, words with digits; at least 8 characters, each once. */
export function namesIn(text: string): readonly string[] {
  const before = known.get(text)
  if (before !== undefined) return before
  const words = (text.match(word) ?? []).map((found) => found.replace(/[./-]+$/, ''))
  const names = [...new Set(words.filter((name) => name.length >= 8 && unlikeProse.test(name)))]
  if (known.size >= maxKnown) known.clear()
  known.set(text, names)
  return names
}

/** The strings of a value a line each: in JSON a line break would be glued to the name after it. */
function plainText(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'object' && value !== null) return Object.values(value).map(plainText).join('\n')
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}

/** The words of a block in which names are looked for. Thinking is left out: it is not kept by every provider. */
export function wordsOf(block: Block): string {
  if (block.type === 'text') return block.text
  return block.type === 'toolCall' ? `${block.name}\n${plainText(block.input)}` : ''
}

export const namesOf = (content: readonly Block[]): readonly string[] => namesIn(content.map(wordsOf).join('\n'))

/** The words of what stands before the messages. */
export const frameWords = ({ system, tools }: Pick<ModelRequest, 'system' | 'tools'>): string =>
  `${system}\n${plainText(tools)}`
