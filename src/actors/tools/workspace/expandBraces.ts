const maxPatternChars = 1000
const maxAlternatives = 256
/** Most characters over all alternatives: matching time is proportional to them. */
const maxExpandedChars = 4000

/** Text, or one of several sequences. */
type Part = string | readonly (readonly Part[])[]

/**
 * Expands the `{a,b}` of a glob, nested ones included. Braces that are unmatched, escaped or without a comma are literal.
 * Takes time proportional to the pattern and to the result, which is bounded.
 * @throws Error written for the model when the glob is too long or has too many alternatives.
 */
export function expandBraces(pattern: string): readonly string[] {
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
