import { alikeTo, bitOf, lettersOf, type Likeness } from '../../protocol/text/lookAlikes.ts'

const less = '<'.charCodeAt(0)
const bracket = '['.charCodeAt(0)
const closingBracket = ']'.charCodeAt(0)
const slash = '/'.charCodeAt(0)
const hyphen = '-'.charCodeAt(0)
const space = ' '.charCodeAt(0)
const nought = '0'.charCodeAt(0)

/** Elements of a pattern besides the bits of letters: a hyphen or white space; one or more digits; the end of an id. */
const [dash, digits, closing] = [-1, -2, -3]
const letterM = bitOf('m')

interface Pattern {
  readonly opener: Likeness
  /** The bits of letters, or elements from above. */
  readonly wanted: readonly number[]
}

/** Matched length of each pattern; negative if it does not match. */
type Reading = readonly number[]

/** States in which a look-alike is complete: one for a tag, one for an id. */
export const foundTag = 254
export const foundId = 255

/**
 * Automaton for the markers that the runtime writes into one kind of text and that nothing else in it may resemble. No look-alike contains the start
 * of another, so one pass finds them all. Transitions are computed lazily, because most texts reach few states.
 */
export class Markers {
  /** Quick test for texts that may contain a look-alike; most do not. */
  readonly opener: RegExp
  readonly #patterns: readonly Pattern[]
  readonly #states: Reading[]
  readonly #numbers: Map<string, number>
  /** The next state, by state and likeness. */
  readonly #next: (Uint8Array | undefined)[] = []

  /** `tags`: names after `<` or `</`. `ids`: whether step ids such as `[n12]` count. */
  constructor(tags: readonly string[], options: { readonly ids?: boolean } = {}) {
    const { ids = false } = options
    const patterns: Pattern[] = tags.map((tag) => ({ opener: less, wanted: [...tag].flatMap(wantedOf) }))
    if (ids) patterns.push({ opener: bracket, wanted: [bitOf('n'), digits, closing] })
    this.opener = ids ? alikeTo('<', '&', '[') : alikeTo('<', '&')
    this.#patterns = patterns
    const nothing = patterns.map(() => -1)
    this.#states = [nothing]
    this.#numbers = new Map([[nothing.join(), 0]])
  }

  /** Returns the state after one more character, or `foundTag`, or `foundId`. In state 0 nothing has matched. */
  next(state: number, like: Likeness): number {
    return (this.#next[state] ??= this.#allNext(state))[like]!
  }

  #allNext(state: number): Uint8Array {
    const read = this.#states[state]!
    return Uint8Array.from({ length: 256 }, (_, like) => {
      const reading = this.#patterns.map((pattern, at) => readOn(pattern, read[at]!, like))
      const found = this.#patterns.find(({ wanted }, at) => reading[at] === wanted.length)
      if (found !== undefined) return found.opener === less ? foundTag : foundId
      return this.#numberOf(reading)
    })
  }

  #numberOf(reading: Reading): number {
    const key = reading.join()
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    const number = this.#states.push(reading) - 1
    this.#numbers.set(key, number)
    return number
  }
}

/** Returns the elements of a pattern for a character. An r and an n together look like an m. */
const wantedOf = (char: string): number[] =>
  char === 'm' ? [bitOf('r') | letterM, bitOf('n')] : [char === '-' ? dash : bitOf(char)]

/** Returns the matched length of a pattern after one more character. */
function readOn({ opener, wanted }: Pattern, read: number, like: Likeness): number {
  if (like === opener) return 0
  if (read < 0) return -1
  const next = wanted[read]!
  if (like === space) return next === dash ? read + 1 : read
  if (next > 0) {
    const both = lettersOf[like]! & next
    if (both !== 0) return (both & letterM) === 0 ? read + 1 : read + 2
    if (read === 0) return opener === less && like === slash ? 0 : -1
    return wanted[read - 1] === dash && like === hyphen ? read : -1
  }
  if (next === dash) return like === hyphen ? read + 1 : -1
  if (next === digits) return isDigit(like) ? read + 1 : -1
  return like === closingBracket ? read + 1 : isDigit(like) ? read : -1
}

const isDigit = (like: Likeness): boolean => like >= nought && like <= nought + 9

const always = ['conversation-summary', 'conversation-facts', 'runtime-note']

/** The runtime's markers in a request without braking. */
export const plainMarkers = new Markers(always)
/** The runtime's markers with notes, for a fork whose past had braking. */
export const noteMarkers = new Markers([...always, 'brake-note'])
/** The runtime's markers in a request with braking. */
export const brakeMarkers = new Markers([...always, 'brake-note'], { ids: true })
/** The markers around a transcript that a model is to summarise. */
export const transcriptMarkers = new Markers(['transcript'])
