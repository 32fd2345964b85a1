/** A token of JavaScript or TypeScript source, with the details needed for repairs. */
export interface Token {
  readonly type: 'name' | 'number' | 'string' | 'template' | 'regex' | 'operator'
  readonly text: string
  /** UTF-16 offsets in the file. */
  readonly start: number
  readonly end: number
  /** Line number, from 1. */
  readonly line: number
}

const operators =
  /^(?:>>>=|\.\.\.|===|!==|\*\*=|&&=|\|\|=|\?\?=|<<=|>>=|>>>|=>|==|!=|<=|>=|&&|\|\||\?\?|\?\.|\+\+|--|\+=|-=|\*=|\/=|%=|\*\*|<<|>>|[\s\S])/
const rules: readonly (readonly [Token['type'] | 'space', RegExp])[] = [
  ['space', /^(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))/],
  ['name', /^[\p{L}_$#][\p{L}\p{N}_$]*/u],
  ['number', /^(?:0[xob][\da-f_]+|(?:\d[\d_]*\.?\d*|\.\d+)(?:e[+-]?\d+)?)n?/i],
  ['string', /^(?:'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*")/],
]
const regex = /^\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/
const templatePiece = /^(?:[^`\\$]|\\[\s\S]|\$(?!\{))*/
const beforeRegex = /^(?:[=(,:;!&|?{}+\-*%<>[]|=>|&&|\|\||\?\?|===|!==|return|typeof|case|in|of)$/

/** Returns the tokens of a source text without white space and comments. Never throws: unknown characters become operators. */
export function tokensOf(source: string): Token[] {
  const tokens: Token[] = []
  /** Number of open braces in each enclosing template expression. */
  const depths: number[] = []
  let at = 0
  let line = 1
  const take = (type: Token['type'] | 'space', text: string): void => {
    if (type !== 'space') tokens.push({ type, text, start: at, end: at + text.length, line })
    at += text.length
    line += text.split('\n').length - 1
  }
  const takeTemplate = (): void => {
    const piece = templatePiece.exec(source.slice(at))?.[0] ?? ''
    if (piece !== '') take('template', piece)
    if (source.startsWith('${', at)) {
      take('operator', '${')
      depths.push(0)
    } else if (at < source.length) take('operator', '`')
  }
  while (at < source.length) {
    const rest = source.slice(at, at + 20_000)
    const rule = rules.find(([, pattern]) => pattern.test(rest))
    const previous = tokens.at(-1)?.text ?? '='
    if (rule !== undefined) take(rule[0], rule[1].exec(rest)![0])
    else if (rest[0] === '/' && beforeRegex.test(previous) && regex.test(rest)) take('regex', regex.exec(rest)![0])
    else if (rest[0] === '`') {
      take('operator', '`')
      takeTemplate()
    } else {
      const operator = operators.exec(rest)![0]
      const depth = depths.at(-1)
      take('operator', operator)
      if (depth === undefined) continue
      if (operator === '{') depths[depths.length - 1] = depth + 1
      else if (operator === '}' && depth > 0) depths[depths.length - 1] = depth - 1
      else if (operator === '}') {
        depths.pop()
        takeTemplate()
      }
    }
  }
  return tokens
}

const closers: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}', '${': '}' }

/** Returns the index of the bracket that closes the one at `open`; the index of the last token if there is none. */
export function closingIndex(tokens: readonly Token[], open: number): number {
  let depth = 0
  for (let i = open; i < tokens.length; i++) {
    const { text, type } = tokens[i]!
    if (type !== 'operator') continue
    if (text in closers) depth++
    else if (text === ')' || text === ']' || text === '}') depth--
    if (depth === 0) return i
  }
  return tokens.length - 1
}
