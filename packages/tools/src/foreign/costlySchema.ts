import { namedBy } from '../../../../src/protocol/checks/jsonPointer.ts'
import type { JsonSchema } from '../../../../src/protocol/ports/model.ts'
import { mayRepeat } from './repeatedChecks.ts'

/** Limits of one check. More characters take long to compile; more parts, counted through references, take long to check. */
const most = { chars: 65_536, parts: 20_000 } as const

/**
 * Returns the reason why arguments must not be checked here against a foreign schema; `undefined` if they may be. Such a check could block the
 * process, because the author of the schema or of the arguments controls how long it takes. Pure.
 */
export function whyCostly(schema: JsonSchema): string | undefined {
  const { length } = JSON.stringify(schema)
  if (length > most.chars) return `it has ${length} characters, and up to ${most.chars} are read`
  if (hasNames(schema, schema)) return 'it refers to parts of itself by names, which are not followed'
  if (partsOf(schema, schema, new Map()) > most.parts) return `its references come to more than ${most.parts} parts`
  return mayRepeat(schema) ? 'several of its choices lead back to the same one' : undefined
}

const named = ['$anchor', '$dynamicAnchor', '$dynamicRef', '$recursiveRef'] as const

/** Returns true if a part has a name that is no pointer, or may refer to such a name. The number of parts behind it is unknown. */
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

/**
 * Counts the parts that a check visits, including parts behind references. A part that refers to itself counts once, as repeating it needs a deeper
 * value.
 */
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
