/** Something in a document that cannot be used, and where. */
export class DocumentProblem extends Error {
  /** A JSON pointer into the document, such as `#/paths/~1pets/get`. */
  readonly at: string

  constructor(at: string, what: string) {
    super(`${at}: ${what}`)
    this.at = at
  }
}

/** A part of a document, and where it is. */
export interface Part {
  readonly value: unknown
  readonly at: string
}

/** One step further down a JSON pointer. Pure. */
export const below = (at: string, ...steps: readonly (string | number)[]): string =>
  [at, ...steps.map((step) => String(step).replaceAll('~', '~0').replaceAll('/', '~1'))].join('/')

/** How many references may follow one another. */
const maxHops = 32

export const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * The part that a part refers to, or itself: references are followed within the document alone.
 *
 * @throws DocumentProblem
 */
export function resolve(document: unknown, { value, at }: Part): Part {
  let part: Part = { value, at }
  for (let hops = 0; isObject(part.value) && '$ref' in part.value; hops += 1) {
    if (hops === maxHops) throw new DocumentProblem(at, 'its references go in a circle')
    part = target(document, part.value['$ref'], part.at)
  }
  return part
}

/** What a reference names. @throws DocumentProblem */
export function target(document: unknown, reference: unknown, at: string): Part {
  if (typeof reference !== 'string') throw new DocumentProblem(at, '$ref is not a string')
  if (!reference.startsWith('#')) {
    const what = `$ref ${JSON.stringify(reference)} leaves the document: bundle it into one first`
    throw new DocumentProblem(at, what)
  }
  let value: unknown = document
  for (const step of stepsOf(reference)) {
    const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, step)
    if (!isThere) throw new DocumentProblem(at, `$ref ${JSON.stringify(reference)} names nothing in the document`)
    value = (value as Record<string, unknown>)[step]
  }
  return { value, at: reference }
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
