import { namedBy } from './jsonPointer.ts'
import type { JsonSchema } from '../ports/model.ts'
import { mayRepeat } from './repeatedChecks.ts'

/** Limits of one check: more characters take long to compile, and more parts, references followed, long to check. */
const most = { chars: 65_536, parts: 20_000 } as const

/**
 * Returns why arguments are not to be checked against a schema from elsewhere in this process: the check could block the process, because the author
 * of the schema or of the arguments controls how long it takes. `undefined` if it cannot. Pure.
 */
export function whyCostly(schema: JsonSchema): string | undefined {
  const { length } = JSON.stringify(schema)
  if (length > most.chars) return `it has ${length} characters, and up to ${most.chars} are read`
  if (hasNames(schema, schema)) return 'it refers to parts of itself by names, which are not followed'
  if (partsOf(schema, schema, new Map()) > most.parts) return `its references come to more than ${most.parts} parts`
  return mayRepeat(schema) ? 'several of its choices lead back to the same one' : undefined
}

const named = ['$anchor', '$dynamicAnchor', '$dynamicRef', '$recursiveRef'] as const

/** Returns true if a part has a name that is no pointer, or may refer to one: the number of parts behind such a name is not known here. */
function hasNames(value: unknown, root: JsonSchema): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { $id, $ref } = value as { readonly $id?: unknown; readonly $ref?: unknown }
  return (
    named.some((name) => typeof (value as Record<string, unknown>)[name] === 'string') ||
    (typeof $id === 'string' && value !== root) ||
    (typeof $ref === 'string' && !/^#(\/|$)/.test($ref) && root['$id'] !== undefined) ||
    Object.values(value).some((inner) => hasNames(inner, root))
  )
}

/** Counts the parts that a check walks through, with those that references lead to; a part that refers to itself needs a value of as many levels. */
function partsOf(value: unknown, root: JsonSchema, known: Map<string, number>): number {
  if (typeof value !== 'object' || value === null) return 0
  let parts = 1
  for (const [key, inner] of Object.entries(value)) {
    parts += key === '$ref' && typeof inner === 'string' ? referred(inner, root, known) : partsOf(inner, root, known)
    if (parts > most.parts) return parts
  }
  return parts
}

function referred(reference: string, root: JsonSchema, known: Map<string, number>): number {
  const before = known.get(reference)
  if (before !== undefined) return before
  known.set(reference, 1)
  const parts = partsOf(namedBy(reference, root)?.value, root, known)
  known.set(reference, parts)
  return parts
}
