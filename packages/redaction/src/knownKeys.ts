/** A range of text; its end is exclusive. */
export type Stretch = readonly [start: number, end: number]

/** Finds secrets of one kind, in order. Contract: linear in the length of any text. */
export type Finder = (text: string) => Iterable<Stretch>

/** Returns a finder of everything that matches a pattern and passes the check. */
export const matching = (pattern: RegExp, isSecret: (match: string) => boolean = () => true): Finder => {
  const everywhere = pattern.global ? pattern : new RegExp(pattern.source, `${pattern.flags}g`)
  return function* (text) {
    // Most texts have none, and `matchAll` is dear.
    if (text.search(everywhere) === -1) return
    for (const { 0: match, index } of text.matchAll(everywhere))
      if (match !== '' && isSecret(match)) yield [index, index + match.length]
  }
}

/** Finds every occurrence of a literal text. */
export const literally = (wanted: string): Finder =>
  function* (text) {
    for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length))
      yield [at, at + wanted.length]
  }

/** Returns true if a digit follows the prefix. */
const hasDigit = (match: string): boolean => /\d/.test(match.slice(match.search(/[-_\s]/)))

/**
 * Finds JSON web tokens: three parts with dots, where the first two are JSON and begin with `eyJ`. The search starts at the second part, because a
 * run of letters may contain many candidates for the first.
 */
const webTokens: Finder = function* (text) {
  let done = 0
  for (const { 0: second, index } of text.matchAll(/\.eyJ[\w-]{10,}(?=\.)/g)) {
    if (index < done) continue
    let start = index
    while (start > done && isTokenChar(text[start - 1]!)) start -= 1
    const first = /(?<!\w)eyJ(?=[\w-]{10})/.exec(text.slice(start, index))
    if (first === null) continue
    done = index + second.length + 1
    while (done < text.length && isTokenChar(text[done]!)) done += 1
    yield [start + first.index, done]
  }
}

const isTokenChar = (char: string): boolean => /[\w-]/.test(char)

/**
 * Finds private keys in PEM, whole or cut: from the first line of a key to its last line or the end of the text, and the lines before a last line
 * whose beginning is missing.
 */
const privateKeys: Finder = function* (text) {
  const ends = /-----END [A-Z ]*PRIVATE KEY-----/g
  const begins = /-----BEGIN [A-Z ]*PRIVATE KEY-----/g
  let begin = begins.exec(text)?.index ?? Infinity
  let done = 0
  for (const { 0: marker, index } of text.matchAll(ends)) {
    yield [begin < index ? begin : keyLinesBefore(text, index, done), index + marker.length]
    done = index + marker.length
    if (begin >= done) continue
    begins.lastIndex = done
    begin = begins.exec(text)?.index ?? Infinity
  }
  if (begin < Infinity) yield [begin, text.length]
}

/** Returns the start of the key lines that end before `end`; the last line may be shorter. */
export function keyLinesBefore(text: string, end: number, least = 0): number {
  let start = end
  for (let isLast = true; ; isLast = false) {
    let lineEnd = start
    while (lineEnd > least && /[\r\n]/.test(text[lineEnd - 1]!)) lineEnd -= 1
    let lineStart = lineEnd
    while (lineStart > least && /[A-Za-z0-9+/=]/.test(text[lineStart - 1]!)) lineStart -= 1
    const isWhole = lineStart === least || /[\r\n]/.test(text[lineStart - 1]!)
    if (lineEnd - lineStart < (isLast ? 1 : 40)) return start
    start = lineStart
    if (!isWhole) return start
  }
}

const shapes: readonly Finder[] = [
  matching(/\b(?:sk|rk|pk|gsk|xai|pplx|r8|hf|nvapi)[-_][\w-]{16,}/g, hasDigit),
  matching(/\b(?:gh[opsu]|github_pat|glpat|xox[abprs])[-_][\w-]{16,}/g, hasDigit),
  matching(/\bAIza[\w-]{30,}/g),
  matching(/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g),
  webTokens,
  matching(/\bBearer\s+[\w.~+/-]{20,}=*/g, hasDigit),
  privateKeys,
]

/** Pattern of a part that every key shape contains, so one test shows that a text has no key. */
const sign =
  /(?:sk|rk|pk|xai|pplx|r8|hf|nvapi|gh[opsu]|github_pat|glpat|xox[abprs])[-_]|AIza|AKIA|ASIA|\.eyJ|Bearer|PRIVATE KEY-----/

/**
 * Finds whole keys in any text by the prefixes of their issuers. It is strict, because prose and code must stay unchanged: API keys of model
 * providers, tokens of GitHub, GitLab and Slack, AWS key ids, JSON web tokens, private keys in PEM.
 */
export const knownKeys: Finder = function* (text) {
  if (sign.test(text)) for (const find of shapes) yield* find(text)
}
