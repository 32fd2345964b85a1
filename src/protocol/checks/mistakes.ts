import type { z } from 'zod'

/** A mistake in a value, described in the library's words. `path` is its place, and `key` is the unknown field there, if any. */
export interface Mistake {
  readonly path: readonly PropertyKey[]
  readonly key?: string
  readonly message: string
}

type Issue = z.core.$ZodIssue
type IssueOf<Code extends Issue['code']> = Extract<Issue, { readonly code: Code }>

/**
 * Describes zod's issues by the value to give instead. Messages by the schema's author are kept. If the schema was parsed with
 * `reportInput`, the value seen is added, except for texts that failed a format, which may be secrets. Pure.
 */
export const mistakesOf = ({ issues }: z.core.$ZodError): Mistake[] => issues.flatMap((issue) => mistakesIn(issue))

function mistakesIn(issue: Issue, outer: readonly PropertyKey[] = []): Mistake[] {
  const path = [...outer, ...issue.path]
  const isOurs = isAuthors(issue)
  if (issue.code === 'unrecognized_keys') {
    const said = isOurs ? issue.message.split('\n') : []
    return issue.keys.map((key, at) => ({ path, key, message: said[at] ?? said[0] ?? `"${key}" is not known` }))
  }
  if (isOurs) return [{ path, message: issue.message }]
  if (issue.code === 'invalid_key') return issue.issues.map((one) => ({ path, message: `its name: ${wordsOf(one)}` }))
  if (issue.code === 'invalid_element')
    return issue.issues.flatMap((one) => mistakesIn(one, [...path, shown(issue.key)]))
  const meant = issue.code === 'invalid_union' ? meantBy(issue.errors) : undefined
  return meant?.flatMap((inner) => mistakesIn(inner, path)) ?? [{ path, message: wordsOf(issue) }]
}

/** Returns the issues of the branch of a union that was probably meant: one that resembles the value. `undefined` if none does. */
function meantBy(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  const alike = branches.filter((branch) => branch.some(isWithin))
  // Objects of a union are told apart by a field such as `type`.
  const tags = alike.map((branch) => branch.find(isTag))
  const [tag] = tags
  if (tag !== undefined && tags.length > 1 && tags.every((other) => other?.path[0] === tag.path[0]))
    return [{ ...tag, values: tags.flatMap((other) => other!.values) }]
  return alike[tags.indexOf(undefined)] ?? alike[0]
}

const isTag = (issue: Issue): issue is IssueOf<'invalid_value'> =>
  issue.code === 'invalid_value' && issue.path.length === 1
const isWithin = (issue: Issue): boolean =>
  issue.path.length > 0 ||
  issue.code === 'unrecognized_keys' ||
  (issue.code === 'invalid_union' && issue.errors.flat().some(isWithin))

/** Returns true for a message by a schema's author. Zod's own messages begin in known ways. */
function isAuthors({ code, message }: Issue): boolean {
  if (code === 'custom') return message !== 'Invalid input'
  return !zodsOwn.test(message) && !(code === 'invalid_format' && /^Invalid [^.,:;!?]+$/.test(message))
}
const zodsOwn =
  /^(?:Invalid (?:input|option|string|number|value|key|discriminator)\b|Too (?:big|small): expected|Unrecognized key)/

function wordsOf(issue: Issue): string {
  const wanted = wantedBy(issue)
  if (wanted === undefined) return isAuthors(issue) ? issue.message : 'this cannot be used'
  if (wanted === nothing) return 'leave it out'
  const seen = seenBy(issue)
  if (seen === 'undefined') return `missing, give ${wanted}`
  return `give ${wanted}${seen === undefined ? '' : `, not ${seen}`}`
}

/** Returns the value that an issue asks for: `a string`, `at most 5 items`, `"a" or "b"`; `undefined` if it does not say. */
const wantedBy = (issue: Issue): string | undefined =>
  isAuthors(issue)
    ? /^give (.+)$/s.exec(issue.message)?.[1]
    : (wants[issue.code] as ((issue: Issue) => string | undefined) | undefined)?.(issue)

/** Descriptions of the wanted value, by issue code. Codes that are not listed say nothing, or hold other issues. */
const wants: { readonly [Code in Issue['code']]?: (issue: IssueOf<Code>) => string | undefined } = {
  invalid_type: ({ expected }) => typeWord(expected),
  invalid_value: ({ values }) => either(values.map(shown)),
  too_big: ({ origin, maximum, exact, inclusive }) =>
    `${exact ? 'exactly' : inclusive ? 'at most' : 'less than'} ${amount(maximum, origin)}`,
  too_small: ({ origin, minimum, exact, inclusive }) =>
    `${exact ? 'exactly' : inclusive ? 'at least' : 'more than'} ${amount(minimum, origin)}`,
  invalid_format: ({ message, pattern }) =>
    message === 'Invalid input'
      ? `a text that must match pattern ${pattern}`
      : typeWord(message.replace(/^Invalid (?:string: )?/, '')),
  not_multiple_of: ({ divisor }) => `a multiple of ${divisor}`,
  invalid_union: (issue) => {
    if (issue.inclusive === false) return 'what fits one kind only'
    const roots = issue.errors.flat()
    const ofItsType = roots.filter(({ code }) => !otherTypes.has(code))
    const meant = ofItsType.length > 0 ? ofItsType : roots
    return either([...(issue.options ?? []).map(shown), ...meant.flatMap((root) => wantedBy(root) ?? [])])
  },
}

/** Codes of issues for a value that does not have the type of a union's branch. */
const otherTypes: ReadonlySet<string> = new Set(['invalid_type', 'invalid_value', 'invalid_union', 'custom'])

/** Returns the value that was seen, if zod reported it; `undefined` for a value that may be a secret. */
function seenBy(issue: Issue): string | undefined {
  const { code, input } = issue
  if (code === 'invalid_type') {
    const given = /received (\S+)$/.exec(issue.message)?.[1]
    if (issue.expected === 'int' && given === 'number') return typeof input === 'number' ? String(input) : undefined
    return given === undefined || given === 'undefined' ? given : typeWord(given)
  }
  if (!('input' in issue) || code === 'invalid_format') return undefined
  if (code === 'too_big' || code === 'too_small') return sizeOf(input)
  if (code !== 'invalid_union') return shown(input)
  if (issue.errors.flat().some((inner) => inner.code === 'invalid_format')) return undefined
  const tag = issue.inclusive === false ? undefined : issue.discriminator
  return shown(tag === undefined ? input : Reflect.get(Object(input), tag))
}

const nothing = 'nothing'
/** Words for zod's types and formats. */
const words: Readonly<Record<string, string>> = {
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  int: 'an integer',
  record: 'an object',
  nan: 'NaN',
  NaN: 'NaN',
  Infinity: 'Infinity',
  null: 'null',
  nonoptional: 'a value',
  never: nothing,
  undefined: nothing,
  void: nothing,
  uppercase: 'a text in capitals',
  lowercase: 'a text in small letters',
}
function typeWord(type: string): string {
  if (Object.hasOwn(words, type)) return words[type]!
  return type.startsWith('must ') ? `a text that ${type}` : `${/^[aeioAEI]/.test(type) ? 'an' : 'a'} ${type}`
}

function either(choices: readonly string[]): string | undefined {
  const each = [...new Set(choices)]
  return each.length < 2 ? each[0] : `${each.slice(0, -1).join(', ')} or ${each.at(-1)}`
}

const units: Readonly<Record<string, string>> = { string: 'character', file: 'byte', array: 'item', set: 'item' }
function amount(count: number | bigint, origin: string): string {
  if (origin === 'date') return new Date(Number(count)).toISOString()
  return `${count}${Object.hasOwn(units, origin) ? ` ${units[origin]}${Number(count) === 1 ? '' : 's'}` : ''}`
}
function sizeOf(input: unknown): string {
  const { length, size } = Object(input) as { readonly length?: unknown; readonly size?: unknown }
  return input instanceof Date ? input.toISOString() : String(length ?? size ?? input)
}

/** Describes a value: a text in quotes and shortened, a list or an object by its kind. */
function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 40 ? `${value.slice(0, 39)}…` : value)
  if (Object(value) !== value) return String(value)
  return typeWord(Array.isArray(value) ? 'array' : typeof value)
}
