import { isFields } from '../../../src/protocol/checks/isObject.ts'
import { namedBy } from '../../../src/protocol/checks/jsonPointer.ts'

/** An unusable part of a document, with its location. */
export class DocumentProblem extends Error {
  /** A JSON pointer into the document, such as `#/paths/~1pets/get`. */
  readonly at: string

  constructor(at: string, what: string) {
    super(`${at}: ${what}`)
    this.at = at
  }
}

/** A part of a document, and its location. */
export interface Part {
  readonly value: unknown
  readonly at: string
}

/** Extends a JSON pointer by further steps. Pure. */
export const below = (at: string, ...steps: readonly (string | number)[]): string =>
  [at, ...steps.map((step) => String(step).replaceAll('~', '~0').replaceAll('/', '~1'))].join('/')

/** Maximum number of references that may follow one another. */
const maxHops = 32

/**
 * Returns the part that a part refers to, or itself. References are followed only within the document.
 *
 * @throws DocumentProblem
 */
export function resolve(document: unknown, { value, at }: Part): Part {
  let part: Part = { value, at }
  for (let hops = 0; isFields(part.value) && '$ref' in part.value; hops += 1) {
    if (hops === maxHops) throw new DocumentProblem(at, 'its references go in a circle')
    part = target(document, part.value['$ref'], part.at)
  }
  return part
}

/**
 * Returns the part of the document that a reference names.
 *
 * @throws DocumentProblem
 */
export function target(document: unknown, reference: unknown, at: string): Part {
  if (typeof reference !== 'string') throw new DocumentProblem(at, '$ref is not a string')
  if (!reference.startsWith('#')) {
    const what = `$ref ${JSON.stringify(reference)} leaves the document: bundle it into one first`
    throw new DocumentProblem(at, what)
  }
  const named = namedBy(reference, document)
  if (named === undefined)
    throw new DocumentProblem(at, `$ref ${JSON.stringify(reference)} names nothing in the document`)
  return { value: named.value, at: reference }
}
