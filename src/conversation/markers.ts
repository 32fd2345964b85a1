import { alikeTo, bitOf, lettersOf, type Likeness } from './lookAlikes.ts'

const less = '<'.charCodeAt(0)
const bracket = '['.charCodeAt(0)
const closingBracket = ']'.charCodeAt(0)
const slash = '/'.charCodeAt(0)
const hyphen = '-'.charCodeAt(0)
const space = ' '.charCodeAt(0)
const nought = '0'.charCodeAt(0)

/** What must follow a letter's bit apart: a hyphen or white space; one digit or more; the end of an id. */
const [dash, digits, closing] = [-1, -2, -3]
const letterM = bitOf('m')

interface Pattern {
  readonly opener: Likeness
  /** A letter's bit, or one of the signs above. */
  readonly wanted: readonly number[]
}

/** How much of each pattern is read; less than 0 where it does not fit. */
type Reading = readonly number[]

/** Transitions to these end a look-alike: of a tag, of an id. */
export const foundTag = 254
export const foundId = 255

/**
 * What the runtime writes by its own hand into one kind of text, and so what nothing else in it may look like. An automaton: no
 * look-alike holds the beginning of another, so one pass finds them all. What follows a state is worked out when it is first reached, as
 * most texts reach few.
 */
export class Markers {
  /** Matches a text that may hold a look-alike; most hold none. */
  readonly opener: RegExp
  readonly #patterns: readonly Pattern[]
  readonly #states: Reading[]
  /** A state's number, by its reading. */
  readonly #numbers: Map<string, number>
  /** The next state, by state and likeness. */
  readonly #next: (Uint8Array | undefined)[] = []

  /** `tags`: what follows `<` or `</`. `ids`: those of steps, `[n12]`. */
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

  /** The state after one more character, or `foundTag`, or `foundId`. State 0: nothing was begun. */
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

/** An r and an n together look like an m. */
const wantedOf = (char: string): number[] =>
  char === 'm' ? [bitOf('r') | letterM, bitOf('n')] : [char === '-' ? dash : bitOf(char)]

/** How much of a pattern is read after one more character. */
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

/** What a request without braking may hold by the runtime's own hand. */
export const plainMarkers = new Markers(always)
/** The same with notes: of a fork whose past was braked. */
export const noteMarkers = new Markers([...always, 'brake-note'])
/** What a braked request may hold. */
export const brakeMarkers = new Markers([...always, 'brake-note'], { ids: true })
/** What frames a transcript that a model is asked to summarise. */
export const transcriptMarkers = new Markers(['transcript'])
