import { cutEnd } from '../../../../src/protocol/text/cutMiddle.ts'
import type { JsonSchema } from '../../../../src/protocol/ports/model.ts'
import { isPart, namedSchemas } from '../../../../src/protocol/checks/schemaParts.ts'

/** Default maximum length of a foreign tool's schema, in characters of JSON. The schema is sent with every request. */
export const mostSchemaChars = 100_000

/** Maximum lengths of descriptions, tried in this order. */
const steps = [400, 120, 40, 0] as const

/** Keywords whose values are no schemas, even if they look like some. */
const values: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples'])

/**
 * Returns a schema of at most `most` characters of JSON, if descriptions can be shortened enough: those furthest inside first, so that the
 * parts that a model reads first stay as they are. Pure.
 */
export function withinChars(schema: JsonSchema, most: number): JsonSchema {
  let shorter = schema
  for (const chars of steps) {
    for (let level = depthOf(schema); level >= 0; level -= 1) {
      if (JSON.stringify(shorter).length <= most) return shorter
      shorter = shortened(shorter, level, chars) as JsonSchema
    }
  }
  return shorter
}

function depthOf(value: unknown): number {
  return typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0
}

/** Returns the schema with descriptions of at most `chars` from this many levels of schemas inwards. */
function shortened(schema: unknown, level: number, chars: number): unknown {
  if (Array.isArray(schema)) return schema.map((one) => shortened(one, level, chars))
  if (!isPart(schema)) return schema
  const entries = Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
    if (level <= 0 && (keyword === 'description' || keyword === 'title') && typeof value === 'string')
      return chars === 0 ? [] : [[keyword, cutEnd(value, chars)]]
    if (values.has(keyword)) return [[keyword, value]]
    if (!namedSchemas.has(keyword) || !isPart(value)) return [[keyword, shortened(value, level - 1, chars)]]
    return [
      [
        keyword,
        Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shortened(one, level - 1, chars)])),
      ],
    ]
  })
  return Object.fromEntries(entries)
}
