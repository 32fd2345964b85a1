import type { ToolEffects } from '../actors/tools/defineTool.ts'
import { nearestWord } from '../protocol/nearestWord.ts'
import type { Method, OperationPlace } from './operations.ts'
import { invalid } from './readDocument.ts'

/**
 * Which operations: by `operationId` or the tool's name, by method and path (`GET /pets/{id}`), or by tag (`tag:pets`); `*` stands for anything. A regular
 * expression is tried on all of these.
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

/** Whether a pattern means an operation. Pure. */
export function matches(pattern: OperationPattern, operation: Chosen): boolean {
  const names = namesOf(operation)
  if (typeof pattern !== 'string') return names.some((name) => new RegExp(pattern).test(name))
  if (!pattern.includes('*')) return names.includes(pattern)
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`))
  return names.some((name) => new RegExp(`^${parts.join('.*')}$`, 's').test(name))
}

/** Every pattern means something: one that is misspelt would leave out an approval. @throws RuntimeError `OPENAPI_INVALID` */
export function checkPatterns(operations: readonly Chosen[], patterns: Patterns): void {
  for (const pattern of patterns) {
    if (operations.some((operation) => matches(pattern, operation))) continue
    const nearest = typeof pattern === 'string' ? nearestWord(pattern, operations.flatMap(namesOf)) : undefined
    const hint = nearest === undefined ? '' : ` Did you mean ${JSON.stringify(nearest)}?`
    throw invalid(`No operation of the document is meant by ${JSON.stringify(String(pattern))}.${hint}`)
  }
}

/** The operations that were chosen. Pure. */
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

/** What an operation does to the world, unless told: by its method, and whether the service takes a key that tells repeated calls. */
export const effectsOf = (method: Method, hasKey: boolean): Exclude<ToolEffects, 'reversible'> =>
  hasKey && byMethod[method] === 'irreversible' ? 'idempotent' : byMethod[method]
