/** Returns true for an object that is not `null`. */
export const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null
