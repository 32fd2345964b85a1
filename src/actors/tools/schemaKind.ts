/**
 * Describes a value that was given instead of a zod 4 schema, with advice; `undefined` if it is not recognised. Other
 * libraries are detected by the Standard Schema property `~standard`.
 */
export function foreignSchema(value: unknown): string | undefined {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || '_zod' in value) return undefined
  const { vendor } = (value as { readonly '~standard'?: { readonly vendor?: unknown } })['~standard'] ?? {}
  if (vendor === 'zod' || '_def' in value) return 'this is a schema of zod 3: install zod 4, and import z from "zod"'
  return typeof vendor === 'string' ? `this is a schema of ${vendor}: give one of zod 4` : undefined
}
