const star = Symbol('*')

/** Tests one character of a segment: for itself, for any, or for a class. */
type CharTest = (char: string) => boolean
type Segment = typeof star | readonly (typeof star | CharTest)[]

/**
 * Compiles a glob: `*` and `?` within a name, `**` for any folders, `[a-z]`, `[!a]`, `{a,b}`, and `\` to escape a character.
 * Without a `/` it is matched against the file's name, else against the whole path; leading dots are not special. Matching time is
 * at most proportional to pattern × path.
 * @throws Error when the pattern is too long or its alternatives multiply, see `expandBraces`.
 */
export function compileGlob(pattern: string): (path: string) => boolean {
  const globs = expandBraces(pattern.replace(/^(?:\.?\/)+/, '')).map((glob) => ({
    inAnyFolder: !glob.includes('/') && glob !== '**',
    segments: glob.split('/').map((part): Segment => (part === '**' ? star : compileSegment(part))),
  }))
  return (path) => {
    const names = path.split('/').map((name) => Array.from(name))
    return globs.some(({ inAnyFolder, segments }) =>
      matchSequence(segments, inAnyFolder ? names.slice(-1) : names, (segment, name) =>
        matchSequence(segment, name, (test, char) => test(char)),
      ),
    )
  }
}

/** Matches tokens with items. Backtracks only to the last star, because a later star makes the choices of earlier ones final. */
function matchSequence<Token, Item>(
  tokens: readonly (typeof star | Token)[],
  items: readonly Item[],
  fits: (token: Token, item: Item) => boolean,
): boolean {
  let at = 0
  let lastStar = -1
  let retryFrom = 0
  for (let i = 0; i < items.length;) {
    const token = tokens[at]
    if (token === star) {
      lastStar = at++
      retryFrom = i
    } else if (token !== undefined && fits(token, items[i]!)) {
      at++
      i++
    } else if (lastStar !== -1) {
      at = lastStar + 1
      i = ++retryFrom
    } else return false
  }
  while (tokens[at] === star) at++
  return at === tokens.length
}

function compileSegment(part: string): readonly (typeof star | CharTest)[] {
  const tokens: (typeof star | CharTest)[] = []
  const chars = Array.from(part)
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i] ?? ''
    const close = char === '[' ? closingBracket(chars, i) : -1
    if (char === '*') tokens.push(star)
    else if (char === '?') tokens.push(() => true)
    else if (close !== -1) {
      tokens.push(charClass(chars.slice(i + 1, close)))
      i = close
    } else {
      const literal = char === '\\' && i + 1 < chars.length ? chars[++i] : char
      tokens.push((other) => other === literal)
    }
  }
  return tokens
}

/** Returns the index of the closing bracket. A `]` right after the opening, or after its negation, belongs to the class. */
function closingBracket(chars: readonly string[], open: number): number {
  const first = chars[open + 1] === '!' || chars[open + 1] === '^' ? open + 2 : open + 1
  return chars.indexOf(']', first + 1)
}

function charClass(chars: readonly string[]): CharTest {
  const negated = chars[0] === '!' || chars[0] === '^'
  const members = negated ? chars.slice(1) : chars
  const ranges: (readonly [string, string])[] = []
  for (let i = 0; i < members.length; i++) {
    const low = members[i] ?? ''
    const high = members[i + 1] === '-' ? members[i + 2] : undefined
    ranges.push([low, high ?? low])
    if (high !== undefined) i += 2
  }
  return (char) => ranges.some(([low, high]) => low <= char && char <= high) !== negated
}

const maxPatternChars = 1000
const maxAlternatives = 256
/** Maximum number of characters over all alternatives: matching time is proportional to them. */
const maxExpandedChars = 4000

/** Text, or alternatives that are sequences of parts. */
type Part = string | readonly (readonly Part[])[]

/**
 * Expands the `{a,b}` of a glob, nested ones included. Braces that are unmatched, escaped or without a comma are literal.
 * Takes time proportional to the pattern and to the result, which is bounded.
 * @throws Error written for the model when the glob is too long or has too many alternatives.
 */
function expandBraces(pattern: string): readonly string[] {
  if (pattern.length > maxPatternChars)
    throw new Error(`the glob has ${pattern.length} characters, more than ${maxPatternChars}; use a shorter one`)
  const tooMany = (what: string): Error =>
    new Error(`the glob ${JSON.stringify(pattern)} has more than ${what}; use a simpler one, or several calls`)
  const expand = (parts: readonly Part[]): readonly string[] => {
    let texts: readonly string[] = ['']
    for (const part of parts) {
      const ends = typeof part === 'string' ? [part] : part.flatMap(expand)
      if (texts.length * ends.length > maxAlternatives) throw tooMany(`${maxAlternatives} alternatives`)
      texts = texts.flatMap((text) => ends.map((end) => text + end))
      if (texts.reduce((sum, { length }) => sum + length, 0) > maxExpandedChars)
        throw tooMany(`${maxExpandedChars} characters with its braces written out`)
    }
    return texts
  }
  return expand(partsOf(pattern))
}

function partsOf(pattern: string): readonly Part[] {
  /** The options so far of each open group; the first is the pattern itself. */
  const open: Part[][][] = [[[]]]
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i]!
    const options = open.at(-1)!
    if (char === '{') open.push([[]])
    else if (char === ',' && open.length > 1) options.push([])
    else if (char === '}' && open.length > 1) {
      open.pop()
      const around = open.at(-1)!.at(-1)!
      if (options.length > 1) around.push(options)
      else around.push('{', ...options[0]!, '}')
    } else options.at(-1)!.push(char === '\\' ? pattern.slice(i, ++i + 1) : char)
  }
  while (open.length > 1) {
    const options = open.pop()!
    open
      .at(-1)!
      .at(-1)!
      .push(...options.flatMap((option, nth) => [nth === 0 ? '{' : ',', ...option]))
  }
  return open[0]![0]!
}
