import { closingIndex, type Token } from './tokens.ts'

/** A function in a source file. Indexes refer to the file's tokens and include the body's brackets. */
export interface FunctionSpan {
  readonly name: string
  readonly first: number
  readonly last: number
  /** Index of the body's first token: `{`, or the first of an arrow's expression. */
  readonly body: number
  readonly isAsync: boolean
}

const keywords = new Set(
  'if for while switch catch function return typeof await new do else with of in case throw delete void yield super'.split(
    ' ',
  ),
)

/** Returns every named function, arrow and method, in source order. The parsing is rough, but sufficient to rank suspects. */
export function functionsOf(tokens: readonly Token[]): FunctionSpan[] {
  const found: FunctionSpan[] = []
  tokens.forEach((token, i) => {
    if (token.type !== 'name' || keywords.has(token.text)) return
    const span = declared(tokens, i) ?? assigned(tokens, i)
    if (span !== undefined) found.push(span)
  })
  return found
}

/** Parses `function name(…) { }` and methods `name(…) { }`. */
function declared(tokens: readonly Token[], i: number): FunctionSpan | undefined {
  if (tokens[i + 1]?.text !== '(') return undefined
  const body = bodyAfter(tokens, closingIndex(tokens, i + 1) + 1)
  if (body === undefined || tokens[body]?.text !== '{') return undefined
  const isAsync = [tokens[i - 1], tokens[i - 2]].some((token) => token?.text === 'async')
  return { name: tokens[i]!.text, first: i, last: closingIndex(tokens, body), body, isAsync }
}

/** Parses `name = (…) => …`, `name = x => …`, `name = function (…) { }`, and the same after `:` in an object. */
function assigned(tokens: readonly Token[], i: number): FunctionSpan | undefined {
  if (tokens[i + 1]?.text !== '=' && tokens[i + 1]?.text !== ':') return undefined
  let at = i + 2
  const isAsync = tokens[at]?.text === 'async'
  if (isAsync) at++
  const isFunction = tokens[at]?.text === 'function'
  if (isFunction) at++
  const afterParameters = tokens[at]?.text === '(' ? closingIndex(tokens, at) + 1 : at + 1
  const body = bodyAfter(tokens, afterParameters)
  if (body === undefined) return undefined
  const isArrow = tokens[body - 1]?.text === '=>'
  if (!isArrow && !isFunction) return undefined
  const last = tokens[body]?.text === '{' ? closingIndex(tokens, body) : expressionEnd(tokens, body)
  return { name: tokens[i]!.text, first: i, last, body, isAsync }
}

/** Returns the index of the first token of a body at `at`, or after a return type and an arrow there. */
function bodyAfter(tokens: readonly Token[], at: number): number | undefined {
  if (tokens[at]?.text === '{') return at
  if (tokens[at]?.text === '=>') return at + 1
  if (tokens[at]?.text !== ':') return undefined
  for (let i = at + 1; i < Math.min(tokens.length, at + 30); i++) {
    const { text } = tokens[i]!
    if (text === '=>') return i + 1
    if (text === '{') return i
    if (text === ';' || text === '=' || text === ',' || text === ')') return undefined
  }
  return undefined
}

/** Returns the index of the last token of an expression that is a statement or a list element. */
export function expressionEnd(tokens: readonly Token[], from: number): number {
  let i = from
  while (i < tokens.length) {
    const token = tokens[i]!
    if (token.type === 'operator' && ['(', '[', '{', '${'].includes(token.text)) i = closingIndex(tokens, i)
    const next = tokens[i + 1]
    if (next === undefined || [')', ']', '}', ',', ';'].includes(next.text)) return i
    if (next.line > tokens[i]!.line && startsStatement(tokens[i]!, next)) return i
    i++
  }
  return tokens.length - 1
}

/** Returns true if a line break between two tokens ends a statement. */
export const startsStatement = (last: Token, next: Token): boolean =>
  (last.type !== 'operator' || [')', ']', '}', '`', '++', '--'].includes(last.text)) &&
  (next.type !== 'operator' || ['{', '}', '`', '!'].includes(next.text))
