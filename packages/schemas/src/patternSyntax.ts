/** A part of a regular expression. */
export type PatternPart =
  | { readonly type: 'character'; readonly is: CharacterTest }
  | { readonly type: 'sequence' | 'choice'; readonly parts: readonly PatternPart[] }
  | { readonly type: 'repeat'; readonly part: PatternPart; readonly least: number; readonly most: number }
  | { readonly type: 'edge'; readonly edge: Edge }
  | { readonly type: 'look'; readonly part: PatternPart; readonly isBehind: boolean; readonly isNot: boolean }

/** Positions that a regular expression matches without a character: beginning, end, word boundary, and its opposite. */
export type Edge = '^' | '$' | 'b' | 'B'

/** Test of a character, given by its code. */
export type CharacterTest = (code: number) => boolean

/** A parsed regular expression. With `isUnicode` characters are code points, else UTF-16 units. */
export interface ReadPattern {
  readonly part: PatternPart
  readonly isUnicode: boolean
}

const maxChars = 4_000
const maxDepth = 100

/**
 * Parses a JavaScript regular expression, with the flag `u` if it is valid with it, else without.
 * @throws Error with the reason if it is invalid, has back references or inline flags, or is too long
 */
export function readPattern(source: string): ReadPattern {
  if (source.length > maxChars) throw new Error(`it has ${source.length} characters, and up to ${maxChars} are read`)
  const isUnicode = isPattern(source, 'u')
  if (!isUnicode && !isPattern(source, '')) throw new Error('it is no regular expression of JavaScript')
  return { part: new Reader(source, isUnicode).whole(), isUnicode }
}

function isPattern(source: string, flags: string): boolean {
  try {
    return new RegExp(source, flags) instanceof RegExp
  } catch {
    return false
  }
}

const escapes = {
  u: /\\(?:u\{[\dA-Fa-f]+\}|u[Dd][89ABab][\dA-Fa-f]{2}\\u[Dd][C-Fc-f][\dA-Fa-f]{2}|u[\dA-Fa-f]{4}|x[\dA-Fa-f]{2}|c[A-Za-z]|[Pp]\{[^}]*\}|.)/suy,
  '': /\\(?:u[\dA-Fa-f]{4}|x[\dA-Fa-f]{2}|c[A-Za-z]|.)/sy,
} as const
const characters = { u: /./suy, '': /./sy } as const
const characterClass = /\[(?:\\.|[^\]\\])*\]/sy
const quantifier = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y
const opening = /\((?:\?(?:(<?[=!])|<[^>]*>|:|(.)))?/sy

/** Parser of a source text that JavaScript accepted as a regular expression. */
class Reader {
  readonly #source: string
  readonly #flags: 'u' | ''
  readonly #tests = new Map<string, CharacterTest>()
  #at = 0
  #depth = 0

  constructor(source: string, isUnicode: boolean) {
    this.#source = source
    this.#flags = isUnicode ? 'u' : ''
  }

  /** Parses everything up to the end, or to the parenthesis that closes a group. */
  whole(): PatternPart {
    if (++this.#depth > maxDepth) throw new Error(`its groups are nested deeper than ${maxDepth} levels`)
    const choices: PatternPart[] = []
    do choices.push(this.#sequence())
    while (this.#take('|'))
    this.#depth--
    return choices.length === 1 ? choices[0]! : { type: 'choice', parts: choices }
  }

  #sequence(): PatternPart {
    const parts: PatternPart[] = []
    while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at]!))
      parts.push(this.#repeated(this.#single()))
    return parts.length === 1 ? parts[0]! : { type: 'sequence', parts }
  }

  #repeated(part: PatternPart): PatternPart {
    const found = this.#next(quantifier)
    if (found === undefined) return part
    const [, sign, from, comma, to] = found
    if (sign !== undefined)
      return { type: 'repeat', part, least: sign === '+' ? 1 : 0, most: sign === '?' ? 1 : Infinity }
    const least = Number(from)
    const most = comma === undefined ? least : to === '' ? Infinity : Number(to)
    return { type: 'repeat', part, least, most }
  }

  #single(): PatternPart {
    const sign = this.#source[this.#at]!
    if (sign === '(') return this.#group()
    if (sign === '^' || sign === '$') {
      this.#at++
      return { type: 'edge', edge: sign }
    }
    if (sign === '[') return this.#character(this.#next(characterClass)![0])
    if (sign === '\\') return this.#escaped(this.#next(escapes[this.#flags])![0])
    const [one] = this.#next(characters[this.#flags])!
    if (one === '.') return this.#character(one)
    const code = one.codePointAt(0)!
    return { type: 'character', is: (other) => other === code }
  }

  #escaped(text: string): PatternPart {
    if (text === String.raw`\b` || text === String.raw`\B`) return { type: 'edge', edge: text.slice(1) as Edge }
    const isOctal = text === String.raw`\0` && /\d/.test(this.#source[this.#at] ?? '')
    if (/^\\[1-9k]/.test(text)) throw new Error('it refers back to what it matched')
    if (isOctal || text === String.raw`\c`) throw new Error(`it has ${JSON.stringify(text)}, which is not read here`)
    return this.#character(text)
  }

  #group(): PatternPart {
    const [all, look, flags] = this.#next(opening)!
    if (flags !== undefined) throw new Error('it changes its flags within')
    const part = this.whole()
    this.#take(')')
    if (look === undefined) return part
    return { type: 'look', part, isBehind: all.startsWith('(?<'), isNot: look.endsWith('!') }
  }

  /** Returns the part for one character. JavaScript tests the first 128 characters, once each. */
  #character(text: string): PatternPart {
    const is = this.#tests.get(text) ?? testOf(new RegExp(`^${text}$`, this.#flags))
    this.#tests.set(text, is)
    return { type: 'character', is }
  }

  #take(sign: string): boolean {
    const isThere = this.#source[this.#at] === sign
    if (isThere) this.#at++
    return isThere
  }

  #next(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#at
    const found = expression.exec(this.#source)
    if (found === null) return undefined
    this.#at += found[0].length
    return found
  }
}

function testOf(one: RegExp): CharacterTest {
  const known: boolean[] = []
  return (code) =>
    code < 128 ? (known[code] ??= one.test(String.fromCharCode(code))) : one.test(String.fromCodePoint(code))
}
