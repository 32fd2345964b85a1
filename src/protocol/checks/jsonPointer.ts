/**
 * Returns the value that a reference such as `#/$defs/Pet` points to in a document; `undefined` if the path does not exist. Decodes escapes of URLs
 * and of JSON pointers. Pure.
 */
export function namedBy(reference: string, document: unknown): { readonly value: unknown } | undefined {
  // A name that is no pointer.
  if (!/^#(\/|$)/.test(reference)) return undefined
  let value = document
  for (const step of stepsOf(reference)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = (value as Record<string, unknown>)[step]
  }
  return { value }
}

function stepsOf(reference: string): readonly string[] {
  const pointer = reference.slice(1)
  if (pointer === '') return []
  return pointer
    .split('/')
    .slice(1)
    .map((step) => decoded(step).replaceAll('~1', '/').replaceAll('~0', '~'))
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}
