import { messageOf } from '../../../src/protocol/errors.ts'
import { linearPattern, spend, type LinearPattern, type Steps } from './linearPattern.ts'
import type { SchemaPart } from '../../../src/protocol/checks/schemaParts.ts'

/** Steps for one check of a value, for all regular expressions of its schema: about a fifth of a second. */
const maxSteps = 10_000_000
/** Maximum sum of the sizes of all regular expressions in a schema. */
const maxSize = 100_000
/** Number of steps charged for naming a field. */
const stepsOfField = 100

/** The regular expressions of one schema, which share the steps of a check. */
export class SchemaPatterns {
  /** Formats that test texts against the expressions. The validator accepts any function as a format. */
  readonly formats = Object.create(null) as Record<string, (text: string) => boolean>
  readonly #steps: Steps = { left: 0 }
  readonly #known = new Map<string, LinearPattern>()
  #size = 0

  /** Adds an expression. Returns the reason if it is not used. */
  add(source: string): string | undefined {
    if (this.#known.has(source)) return undefined
    try {
      const pattern = linearPattern(source)
      if (this.#size + pattern.size > maxSize) return 'those before it are as large as is tried'
      this.#size += pattern.size
      this.#known.set(source, pattern)
      this.formats[source] = (text) => pattern.test(text, this.#steps)
      return undefined
    } catch (thrown) {
      return messageOf(thrown)
    }
  }

  /** Resets the step count before another value is checked. */
  begin(): void {
    this.#steps.left = maxSteps
  }

  /**
   * Returns named fields with the schemas of matching pattern fields, for a value with these names. The validator itself would match expressions with
   * JavaScript's engine.
   * @throws TooManySteps
   */
  fields(own: SchemaPart, byPattern: SchemaPart, names: Iterable<string>): SchemaPart {
    const fields: [string, unknown][] = []
    for (const name of names) {
      const schemas = Object.keys(byPattern).flatMap((source) =>
        this.#known.get(source)!.test(name, this.#steps) ? [byPattern[source]] : [],
      )
      if (schemas.length === 0) continue
      spend(this.#steps, stepsOfField * schemas.length)
      fields.push([name, { allOf: Object.hasOwn(own, name) ? [own[name], ...schemas] : schemas }])
    }
    return { ...own, ...Object.fromEntries(fields) }
  }
}

/** Returns the names of all fields in a value, at any depth. */
export function namesIn(value: unknown, names = new Set<string>()): ReadonlySet<string> {
  if (typeof value !== 'object' || value === null) return names
  for (const [name, inner] of Object.entries(value)) {
    if (!Array.isArray(value)) names.add(name)
    namesIn(inner, names)
  }
  return names
}
