/** Returns true for an object or a list. */
export const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Returns true for an object that is not a list. */
export const isFields = (value: unknown): value is { readonly [field: string]: unknown } =>
  isObject(value) && !Array.isArray(value)
