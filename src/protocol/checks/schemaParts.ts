export type SchemaPart = { readonly [keyword: string]: unknown }

export const isPart = (value: unknown): value is SchemaPart =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the schemas of a schema's fields, by name. */
export const fieldsOf = ({ properties }: SchemaPart): SchemaPart => (isPart(properties) ? properties : {})

/** Keywords whose values are schemas by arbitrary names. */
export const namedSchemas: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
])
