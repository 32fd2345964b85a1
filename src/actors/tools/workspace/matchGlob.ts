const star = Symbol('*')

/** One character of a segment: itself, any, or one of a class. */
type CharTest = (char: string) => boolean
type Segment = typeof star | readonly (typeof star | CharTest)[]

const maxAlternatives = 256

/**
 * Compiles a glob: `*` and `?` within a name, `**` for any folders, `[a-z]`, `[!a]`, `{a,b}`, `\` before a character to take it as
 * it is. Without a `/` it is matched with the file's name, else with the whole path; a leading dot is a character like any
 * other. Matching takes time in proportion to pattern × path, whatever the pattern.
 * @throws Error when the alternatives multiply beyond 256.
 */
export function compileGlob(pattern: string): (path: string) => boolean {
  const globs = expandBraces(pattern.replace(/^(?:\.?\/)+/, '')).map((glob) => ({
    inAnyFolder: !glob.includes('/') && glob !== '**',
    segments: glob.split('/').map((part): Segment => (part === '**' ? star : compileSegment(part))),
  }))
  return (path) => {
    const names = path.split('/')
    return globs.some(({ inAnyFolder, segments }) =>
      matchSequence(segments, inAnyFolder ? names.slice(-1) : names, (segment, name) =>
        matchSequence(segment, Array.from(name), (test, char) => test(char)),
      ),
    )
  }
}

/** Matches with one step back per star only: a later star makes the choices of the earlier ones final. */
function matchSequence<Token>(
  tokens: readonly (typeof star | Token)[],
  items: readonly string[],
  fits: (token: Token, item: string) => boolean,
): boolean {
  let at = 0
  let lastStar = -1
  let retryFrom = 0
  for (let i = 0; i < items.length;) {
    const token = tokens[at]
    if (token === star) {
      lastStar = at++
      retryFrom = i
    } else if (token !== undefined && fits(token, items[i] ?? '')) {
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

/** A `]` right after the opening, or after its negation, belongs to the class. */
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

function expandBraces(pattern: string): string[] {
  const done: string[] = []
  const waiting = [pattern]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const group = firstGroup(next)
    if (group === undefined) done.push(next)
    else for (const option of group.options) waiting.push(group.before + option + group.after)
    if (done.length + waiting.length > maxAlternatives) {
      throw new Error(
        `the glob ${JSON.stringify(pattern)} has more than ${maxAlternatives} alternatives; use a simpler one`,
      )
    }
  }
  return done
}

/** The first `{a,b}` of a pattern; braces without a comma or a partner stand for themselves. */
function firstGroup(pattern: string): { before: string; options: string[]; after: string } | undefined {
  for (let open = pattern.indexOf('{'); open !== -1; open = pattern.indexOf('{', open + 1)) {
    const cuts = [open]
    let depth = 0
    for (let i = open; i < pattern.length; i++) {
      const char = pattern[i]
      if (char === '\\') i++
      else if (char === '{') depth++
      else if (char === ',' && depth === 1) cuts.push(i)
      else if (char === '}' && --depth === 0) {
        if (cuts.length === 1) break
        const ends = [...cuts.slice(1), i]
        const options = cuts.map((cut, nth) => pattern.slice(cut + 1, ends[nth]))
        return { before: pattern.slice(0, open), options, after: pattern.slice(i + 1) }
      }
    }
  }
  return undefined
}
