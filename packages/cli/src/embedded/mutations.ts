import type { Failure } from './failure.ts'
import type { Replacement } from './fileEdit.ts'
import { startsStatement } from './functions.ts'
import type { Site } from './site.ts'
import { innermost } from './suspects.ts'
import { closingIndex, type Token } from './tokens.ts'
import { constantFixes } from './constantFixes.ts'
import { nameFixes, sameKindNames } from './nameFixes.ts'

/** A kind of fault in a program. */
export interface Mutation {
  readonly name: string
  /** Returns the likelihood of this fault, given the observed failure. */
  weight(failure: Failure): number
  propose(site: Site): Replacement[]
}

const instead = ({ start, end }: Token, text: string): Replacement => ({ start, end, text })
const before = ({ start }: Token, text: string): Replacement => ({ start, end: start, text })

/** Replaces a token by alternatives from a table. */
const swap =
  (table: Readonly<Record<string, readonly string[]>>, types: readonly Token['type'][] = ['operator']) =>
  ({ token }: Site): Replacement[] =>
    types.includes(token.type) && Object.hasOwn(table, token.text)
      ? table[token.text]!.map((text) => instead(token, text))
      : []

/** Replaces comparison operators. Unlike `<` and `>` around types, they have spaces on both sides. */
const comparing =
  (table: Readonly<Record<string, readonly string[]>>) =>
  (site: Site): Replacement[] =>
    site.file.content[site.token.start - 1] === ' ' && site.file.content[site.token.end] === ' '
      ? swap(table)(site)
      : []

const methods: Readonly<Record<string, readonly string[]>> = {
  min: ['max'], max: ['min'], floor: ['ceil', 'round'], ceil: ['floor', 'round'], round: ['floor', 'ceil'], trunc: ['round'],
  push: ['unshift'], unshift: ['push'], pop: ['shift'], shift: ['pop'], some: ['every'], every: ['some'],
  toUpperCase: ['toLowerCase'], toLowerCase: ['toUpperCase'], startsWith: ['endsWith', 'includes'],
  endsWith: ['startsWith', 'includes'], indexOf: ['lastIndexOf'], lastIndexOf: ['indexOf'], padStart: ['padEnd'],
  padEnd: ['padStart'], trimStart: ['trim', 'trimEnd'], trimEnd: ['trim', 'trimStart'], map: ['flatMap', 'filter'],
  filter: ['map'], find: ['findLast', 'filter'], findIndex: ['findLastIndex'], keys: ['values', 'entries'],
  values: ['keys'], slice: ['splice'], splice: ['slice'], replace: ['replaceAll'], forEach: ['map'], shiftKey: [],
  parseInt: ['parseFloat'], has: ['get'], get: ['has'], reduce: ['reduceRight'], isFinite: ['isInteger'], all: ['allSettled'],
} // prettier-ignore

/** All kinds of single edits, the most specific first. */
export const mutations: readonly Mutation[] = [
  { name: 'the name of something else', weight: () => 20, propose: nameFixes },
  { name: 'a constant', weight: ({ isText }) => (isText ? 17 : 11), propose: constantFixes },
  {
    name: 'a missing await',
    weight: ({ isPromise, isNaN }) => (isPromise ? 27 : isNaN ? 18 : 4),
    propose: missingAwait,
  },
  { name: 'a missing return', weight: ({ isUndefined }) => (isUndefined ? 24 : 3), propose: missingReturn },
  {
    name: 'a boundary',
    weight: ({ delta, isBoolean }) => 10 + (Math.abs(delta ?? 0) === 1 || isBoolean ? 4 : 0),
    propose: comparing({ '<': ['<='], '<=': ['<'], '>': ['>='], '>=': ['>'] }),
  },
  {
    name: 'one off',
    weight: ({ delta }) => 8 + (Math.abs(delta ?? 0) === 1 ? 6 : 0),
    propose: oneOff,
  },
  {
    name: 'a comparison',
    weight: ({ isBoolean }) => 6 + (isBoolean ? 5 : 0),
    propose: swap({ '===': ['!=='], '!==': ['==='], '==': ['!='], '!=': ['=='] }),
  },
  {
    name: 'the direction of a comparison',
    weight: () => 5,
    propose: comparing({ '<': ['>'], '<=': ['>='], '>': ['<'], '>=': ['<='] }),
  },
  {
    name: 'an arithmetic operator',
    weight: ({ isNegated, isNaN }) => 6 + (isNegated ? 8 : 0) + (isNaN ? 2 : 0),
    propose: arithmetic,
  },
  {
    name: 'the order of operands',
    weight: ({ isNegated }) => 4 + (isNegated ? 9 : 0),
    propose: swappedOperands,
  },
  {
    name: 'a logical operator',
    weight: ({ isBoolean }) => 6 + (isBoolean ? 5 : 0),
    propose: swap({ '&&': ['||'], '||': ['&&', '??'], '??': ['||'] }),
  },
  { name: 'a negation', weight: ({ isBoolean }) => 5 + (isBoolean ? 5 : 0), propose: negation },
  {
    name: 'a boolean',
    weight: ({ isBoolean }) => 5 + (isBoolean ? 3 : 0),
    propose: swap({ true: ['false'], false: ['true'] }, ['name']),
  },
  {
    name: 'the wrong method',
    weight: ({ isText }) => 7 + (isText ? 3 : 0),
    propose: (site) => (site.file.tokens[site.index + 1]?.text === '(' ? swap(methods, ['name'])(site) : []),
  },
  { name: 'a missing comparator', weight: () => 8, propose: missingComparator },
  { name: 'an assignment', weight: () => 5, propose: assignment },
  { name: 'the order of arguments', weight: () => 4, propose: swappedArguments },
  {
    name: 'the wrong variable',
    weight: ({ isNaN, isUndefined }) => (isNaN || isUndefined ? 8 : 3),
    propose: sameKindNames,
  },
]

function oneOff({ token, index, file: { tokens } }: Site): Replacement[] {
  const last = tokens[index - 1]
  if (token.type === 'number' && /^\d+$/.test(token.text)) {
    const value = Number(token.text)
    const others = [instead(token, String(value + 1)), ...(value > 0 ? [instead(token, String(value - 1))] : [])]
    const isStep = value === 1 && (last?.text === '+' || last?.text === '-')
    return isStep ? [{ start: tokens[index - 2]!.end, end: token.end, text: '' }, ...others] : others
  }
  if (token.text !== 'length' || last?.text !== '.') return []
  const next = tokens[index + 1]?.text ?? ''
  // Anywhere else it would bind to what comes after it.
  return !/^[)\],;]$/.test(next) ? [] : [{ start: token.end, end: token.end, text: ' - 1' }]
}

function arithmetic(site: Site): Replacement[] {
  const last = site.file.tokens[site.index - 1]
  const isBinary = last !== undefined && (last.type !== 'operator' || [')', ']', '}', '`'].includes(last.text))
  const table = { '+': ['-'], '-': ['+'], '*': ['/', '+', '**'], '/': ['*'], '%': ['/'], '**': ['*'] }
  const updates = { '+=': ['-='], '-=': ['+='], '*=': ['/=', '+='], '/=': ['*='], '++': ['--'], '--': ['++'] }
  return isBinary ? [...swap(table)(site), ...swap(updates)(site)] : swap(updates)(site)
}

function negation({ token, index, file: { tokens, content } }: Site): Replacement[] {
  if (token.type === 'operator' && token.text === '!') return [instead(token, '')]
  if (token.type !== 'name' || !['if', 'while', 'return'].includes(token.text)) return []
  if (token.text === 'return') {
    const next = tokens[index + 1]
    const isPlain = next?.type === 'name' && [')', '}', ';', '.', '('].includes(tokens[index + 2]?.text ?? '}')
    return isPlain && next.line === token.line ? [before(next, '!')] : []
  }
  const open = tokens[index + 1]
  if (open?.text !== '(') return []
  const close = tokens[closingIndex(tokens, index + 1)]!
  return [{ start: open.start, end: close.end, text: `(!${content.slice(open.start, close.end)})` }]
}

function assignment(site: Site): Replacement[] {
  const { token, index, file } = site
  if (token.type !== 'operator') return []
  if (token.text === '+=') return [instead(token, '=')]
  const beforeName = file.tokens[index - 2]?.text ?? ''
  if (token.text !== '=' || file.tokens[index - 1]?.type !== 'name') return []
  return ['const', 'let', 'var', ',', '(', '{', ':'].includes(beforeName) ? [] : [instead(token, '+=')]
}

function missingAwait({ token, index, file: { tokens, functions }, asyncNames }: Site): Replacement[] {
  if (token.type !== 'name' || !asyncNames.has(token.text) || tokens[index + 1]?.text !== '(') return []
  const last = tokens[index - 1]?.text
  if (last === 'await' || last === 'function' || last === '.' || last === 'async') return []
  return innermost(functions, index)?.isAsync === true ? [before(token, 'await ')] : []
}

/** Inserts `return` before the last statement of a function that has none. */
function missingReturn({ index, file: { tokens, functions } }: Site): Replacement[] {
  const inside = functions.find(({ body }) => body === index && tokens[index]!.text === '{')
  if (inside === undefined || inside.last - index < 2) return []
  const { last } = inside
  if (tokens.slice(index, last).some(({ text }) => text === 'return')) return []
  let start = index + 1
  for (let i = index + 1; i < last; i++) {
    if (['(', '[', '{', '${'].includes(tokens[i]!.text)) i = closingIndex(tokens, i)
    const next = tokens[i + 1]!
    const isEnd = tokens[i]!.text === ';' || (next.line > tokens[i]!.line && startsStatement(tokens[i]!, next))
    if (isEnd && i + 1 < last) start = i + 1
  }
  const first = tokens[start]!
  const isExpression = !/^(?:if|for|while|switch|const|let|var|throw|try|do|function|class)$/.test(first.text)
  return isExpression && first.text !== '}' ? [before(first, 'return ')] : []
}

function missingComparator({ token, index, file: { tokens } }: Site): Replacement[] {
  if ((token.text !== 'sort' && token.text !== 'toSorted') || tokens[index - 1]?.text !== '.') return []
  const [open, close] = [tokens[index + 1], tokens[index + 2]]
  if (open?.text !== '(' || close?.text !== ')') return []
  return [{ start: open.end, end: close.start, text: '(a, b) => a - b' }]
}

/** Swaps `a - b` to `b - a`, if both are names, paths or numbers. */
function swappedOperands({ token, index, file: { tokens, content } }: Site): Replacement[] {
  if (token.type !== 'operator' || !['-', '/', '%', '<', '>', '<=', '>=', '+'].includes(token.text)) return []
  const [from, to] = [operandStart(tokens, index - 1), operandEnd(tokens, index + 1)]
  const [first, last] = [tokens[from], tokens[to]]
  if (first === undefined || last === undefined || !isPlain(first) || !isPlain(tokens[index + 1])) return []
  if (tokens[to + 1]?.text === '(' || tokens[to + 1]?.text === '[') return []
  const [left, right] = [
    content.slice(first.start, tokens[index - 1]!.end),
    content.slice(tokens[index + 1]!.start, last.end),
  ]
  return [{ start: first.start, end: last.end, text: `${right} ${token.text} ${left}` }]
}

const isPlain = (token: Token | undefined): boolean => token?.type === 'name' || token?.type === 'number'

/** Returns the index of the first token of `a`, `a.b` or `a.b()` that ends at `last`. */
function operandStart(tokens: readonly Token[], last: number): number {
  let from = tokens[last]?.text === ')' && tokens[last - 1]?.text === '(' ? last - 2 : last
  while (tokens[from - 1]?.text === '.' && tokens[from - 2]?.type === 'name') from -= 2
  return from
}

/** Returns the index of the last token of `a`, `a.b` or `a.b()` that begins at `first`. */
function operandEnd(tokens: readonly Token[], first: number): number {
  let to = first
  while (tokens[to + 1]?.text === '.' && tokens[to + 2]?.type === 'name') to += 2
  return tokens[to + 1]?.text === '(' && tokens[to + 2]?.text === ')' ? to + 2 : to
}

/** Swaps `f(a, b)` to `f(b, a)`, except in the declaration of `f`. */
function swappedArguments({ token, index, file: { tokens, functions } }: Site): Replacement[] {
  if (functions.some(({ first }) => first === index)) return []
  const [open, first, comma, second, close] = tokens.slice(index + 1, index + 6)
  if (token.type !== 'name' || open?.text !== '(' || comma?.text !== ',' || close?.text !== ')') return []
  if (first === undefined || second === undefined || first.type === 'operator' || second.type === 'operator') return []
  return [{ start: first.start, end: second.end, text: `${second.text}, ${first.text}` }]
}
