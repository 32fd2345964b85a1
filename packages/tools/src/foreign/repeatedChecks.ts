import { namedBy } from '../../../../src/protocol/checks/jsonPointer.ts'
import type { JsonSchema } from '../../../../src/protocol/ports/model.ts'

type Part = Readonly<Record<string, unknown>>

/** A check of a value that may lead back to itself: the parts that it leads to, and the type that a value must have. */
interface Way {
  readonly parts: readonly unknown[]
  readonly type: unknown
}

const isPart = (value: unknown): value is Part => typeof value === 'object' && value !== null

/**
 * Returns true if a schema may check the same part of a value in several ways, at every level: two branches of a choice lead back to it. The time of
 * such a check doubles with each level of the value. Pure.
 */
export function mayRepeat(schema: JsonSchema): boolean {
  const circles = circlesIn(schema)
  return [...circles].some(([part, circle]) => {
    const back = waysOf(part, schema).filter(({ parts }) =>
      parts.some((inner) => circles.get(inner as Part) === circle),
    )
    return back.some((way, at) => back.slice(0, at).some((other) => meet(way, other)))
  })
}

/** Returns true if a value could pass the types of both checks. A check without a type accepts any. */
const meet = (one: Way, other: Way): boolean =>
  typeof one.type !== 'string' || typeof other.type !== 'string' || one.type === other.type

/** Keywords whose value holds one schema for the value itself, a list of schemas, or schemas by name. */
const ofValue = ['$ref', 'if', 'then', 'else', 'not', 'allOf', 'anyOf', 'oneOf', 'dependentSchemas'] as const

function waysOf(part: Part, root: JsonSchema): readonly Way[] {
  const { items, prefixItems, unevaluatedItems, contains } = part
  const { properties, additionalProperties, unevaluatedProperties, patternProperties } = part
  return [
    ...ofValue.flatMap((name) =>
      branchesOf(name, part, root).map((inner) => ({ parts: [inner], type: typeOf(inner, root) })),
    ),
    // Each child is checked by one of these.
    { parts: [items, prefixItems, unevaluatedItems], type: 'array' },
    { parts: [contains], type: 'array' },
    { parts: [properties, additionalProperties, unevaluatedProperties], type: 'object' },
    ...(isPart(patternProperties) ? Object.values(patternProperties) : []).map((inner) => ({
      parts: [inner],
      type: 'object',
    })),
  ]
}

function branchesOf(name: (typeof ofValue)[number], part: Part, root: JsonSchema): readonly unknown[] {
  const value = part[name]
  if (name === '$ref') return referred(value, root)
  return Array.isArray(value) || (name === 'dependentSchemas' && isPart(value)) ? Object.values(value) : [value]
}

function referred(reference: unknown, root: JsonSchema): readonly unknown[] {
  const named = typeof reference === 'string' ? namedBy(reference, root) : undefined
  return named === undefined ? [] : [named.value]
}

/** Returns the type that a part requires, directly or through its reference. */
function typeOf(part: unknown, root: JsonSchema, hops = 0): unknown {
  if (!isPart(part)) return undefined
  const [named] = referred(part['$ref'], root)
  return part['type'] ?? (hops < 32 ? typeOf(named, root, hops + 1) : undefined)
}

/** Returns each part of a schema with the number of its cycle: parts that lead to each other have the same number (Tarjan's algorithm). */
function circlesIn(root: JsonSchema): ReadonlyMap<Part, number> {
  const met = new Map<Part, number>()
  const circles = new Map<Part, number>()
  const open: Part[] = []
  /** Visits a part, and returns the lowest open index that it leads to. */
  const visit = (part: Part): number => {
    if (circles.has(part)) return Infinity
    const before = met.get(part)
    if (before !== undefined) return before
    const at = met.size
    met.set(part, at)
    open.push(part)
    let first = at
    for (const inner of [...Object.values(part), ...referred(part['$ref'], root)])
      if (isPart(inner)) first = Math.min(first, visit(inner))
    if (first === at) for (const member of open.splice(open.lastIndexOf(part))) circles.set(member, at)
    return first
  }
  visit(root)
  return circles
}
