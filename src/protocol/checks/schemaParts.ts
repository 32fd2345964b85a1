/** A schema that is an object, by its keywords. */
export type SchemaPart = { readonly [keyword: string]: unknown }

/** True of a value that is an object, and no list. */
export const isPart = (value: unknown): value is SchemaPart =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The schemas of a schema's fields, by name. */
export const fieldsOf = ({ properties }: SchemaPart): SchemaPart => (isPart(properties) ? properties : {})

/** The keywords whose values are schemas by names that anybody chose. */
export const namedSchemas: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
])
