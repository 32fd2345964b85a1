import type { ToolEffects } from '../../../src/actors/tools/defineTool.ts'
import { editDistance, nearestWord } from '../../../src/protocol/checks/nearestWord.ts'
import type { Method, OperationPlace } from './operations.ts'
import { invalid } from './readDocument.ts'

/**
 * Selects operations by `operationId` or the tool's name, by method and path (`GET /pets/{id}`), or by tag
 * (`tag:pets`); `*` stands for anything. A regular expression is tried on all of these.
 */
export type OperationPattern = string | RegExp
type Patterns = readonly OperationPattern[]

type Chosen = Pick<OperationPlace, 'name' | 'operationId' | 'method' | 'path' | 'tags'>

const namesOf = ({ name, operationId, method, path, tags }: Chosen): readonly string[] => [
  name,
  ...(operationId === undefined ? [] : [operationId]),
  `${method} ${path}`,
  ...tags.map((tag) => `tag:${tag}`),
]

/** Returns true if a pattern selects an operation. Pure. */
export function matches(pattern: OperationPattern, operation: Chosen): boolean {
  const names = namesOf(operation)
  if (typeof pattern !== 'string') return names.some((name) => new RegExp(pattern).test(name))
  if (!pattern.includes('*')) return names.includes(pattern)
  const [first = '', ...rest] = pattern.split('*')
  return names.some((name) => fits(name, first, rest))
}

/** True if a name contains the parts in this order, the first at its beginning and the last at its end. Linear for any name. */
function fits(name: string, first: string, rest: readonly string[]): boolean {
  const last = rest.at(-1)!
  let at = first.length
  for (const part of rest.slice(0, -1)) {
    const found = name.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return name.startsWith(first) && name.endsWith(last) && name.length - last.length >= at
}

/**
 * Checks that every pattern selects an operation: a misspelt pattern would leave out an approval.
 *
 * @throws RuntimeError `OPENAPI_INVALID`
 */
export function checkPatterns(operations: readonly Chosen[], patterns: Patterns): void {
  for (const pattern of patterns) {
    if (operations.some((operation) => matches(pattern, operation))) continue
    const names = [...new Set(operations.flatMap(namesOf))]
    const nearest = typeof pattern === 'string' ? nearestWord(pattern.slice(0, longest), names) : undefined
    const hint = nearest === undefined ? '' : ` Did you mean ${JSON.stringify(nearest)}?`
    throw invalid(
      `No operation of the document is meant by ${JSON.stringify(String(pattern))}.${hint}${thereAre(pattern, operations)}`,
    )
  }
}

/** Maximum characters compared of an unknown pattern, and maximum names listed. */
const longest = 200
const mostTold = 12

/** Lists the document's tags, calls or names, depending on the pattern, the nearest first. Pure. */
function thereAre(pattern: OperationPattern, operations: readonly Chosen[]): string {
  const wanted = String(pattern).slice(0, longest)
  const tags = operations.flatMap((operation) => operation.tags.map((tag) => `tag:${tag}`))
  const calls = operations.map(({ method, path }) => `${method} ${path}`)
  const names = operations.map(({ operationId, name }) => operationId ?? name)
  const kinds = wanted.startsWith('tag:') ? [tags, names] : wanted.includes(' ') ? [calls, tags] : [names, tags]
  const told = kinds.flatMap((kind) => nearestFirst(wanted, [...new Set(kind)]))
  if (told.length === 0) return ' The document has no operations.'
  const more = told.length > mostTold ? `, and ${told.length - mostTold} more` : ''
  return ` There are: ${told.slice(0, mostTold).join(', ')}${more}.`
}

const nearestFirst = (wanted: string, names: readonly string[]): string[] =>
  names
    .map((name) => ({ name, distance: editDistance(wanted, name.slice(0, longest)) }))
    .toSorted((one, other) => one.distance - other.distance)
    .map(({ name }) => name)

/** Returns the chosen operations. Pure. */
export const chosen = <T extends Chosen>(
  operations: readonly T[],
  { include, exclude = [] }: { readonly include?: Patterns | undefined; readonly exclude?: Patterns | undefined },
): readonly T[] =>
  operations.filter(
    (operation) =>
      (include === undefined || include.some((pattern) => matches(pattern, operation))) &&
      !exclude.some((pattern) => matches(pattern, operation)),
  )

const byMethod: { readonly [M in Method]: Exclude<ToolEffects, 'reversible'> } = {
  GET: 'none',
  HEAD: 'none',
  OPTIONS: 'none',
  PUT: 'idempotent',
  POST: 'irreversible',
  PATCH: 'irreversible',
  DELETE: 'irreversible',
}

/** Returns the default effects of an operation, by its method and by support for a key that identifies repeated calls. */
export const effectsOf = (method: Method, hasKey: boolean): Exclude<ToolEffects, 'reversible'> =>
  hasKey && byMethod[method] === 'irreversible' ? 'idempotent' : byMethod[method]
