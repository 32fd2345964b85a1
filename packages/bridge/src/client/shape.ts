import { isFields } from '../../../../src/protocol/checks/isObject.ts'
import { unknownField } from '../../../../src/protocol/checks/nearestWord.ts'

/** A fault in a value, and the path to it. */
export interface Wrong {
  readonly path: readonly (string | number)[]
  readonly what: string
}

/**
 * Check of a type: returns the fault of a value; `undefined` if there is none. Browsers use shapes because they take a hundredth of the code of the
 * schemas. A shape that lacks a field of its type does not compile.
 */
export interface Shape<out T> {
  (value: unknown): Wrong | undefined
  /** Marker of the type `T`. Never set. */
  readonly of?: T
}

/** The shape of a field that may be missing. */
interface Maybe<out T> {
  readonly maybe: Shape<T>
}

/** A shape for every field of a type. */
export type Fields<T> = {
  readonly [K in keyof T]-?: object extends Pick<T, K> ? Maybe<Required<T>[K]> : Shape<T[K]>
}

/** Describes a fault in one line: `agents.0.seq: give a whole number`. */
export const wrongText = ({ path, what }: Wrong): string => (path.length === 0 ? what : `${path.join('.')}: ${what}`)

/** Returns a shape with a single test. */
export const thatIs = <T>(test: (value: unknown) => boolean, what: string): Shape<T> => {
  const wrong: Wrong = { path: [], what }
  return (value) => (test(value) ? undefined : wrong)
}

export const anything: Shape<unknown> = () => undefined
export const text = thatIs<string>((value) => typeof value === 'string', 'give a text')
export const number = thatIs<number>((value) => Number.isFinite(value), 'give a number')
export const positive = thatIs<number>((value) => Number.isFinite(value) && (value as number) > 0, 'give more than 0')
/** Shape of a whole number, 0 or more. */
export const count = thatIs<number>((value) => Number.isSafeInteger(value) && (value as number) >= 0, 'give a count')
export const yesOrNo = thatIs<boolean>((value) => typeof value === 'boolean', 'give true or false')

/** Returns the shape of one of these words. */
export const word = <const T extends string | boolean>(...words: readonly T[]): Shape<T> =>
  thatIs((value) => words.includes(value as T), `give ${words.map((one) => JSON.stringify(one)).join(' or ')}`)

export const orNull =
  <T>(shape: Shape<T>): Shape<T | null> =>
  (value) =>
    value === null ? undefined : shape(value)

export const maybe = <T>(shape: Shape<T>): Maybe<T> => ({ maybe: shape })

const at = (key: string | number, { path, what }: Wrong): Wrong => ({ path: [key, ...path], what })

const notAList: Wrong = { path: [], what: 'give a list' }

export const list =
  <T>(shape: Shape<T>, least = 0): Shape<T[]> =>
  (value) => {
    if (!Array.isArray(value)) return notAList
    if (value.length < least) return { path: [], what: `give at least ${least}` }
    for (const [index, entry] of value.entries()) {
      const wrong = shape(entry)
      if (wrong !== undefined) return at(index, wrong)
    }
    return undefined
  }

const notAnObject: Wrong = { path: [], what: 'give an object' }

/** Shape of an object with any fields. */
export const record = thatIs<Record<string, unknown>>(isFields, notAnObject.what)

/** Shape of an object whose values are texts. */
export const texts = thatIs<Record<string, string>>(
  (value) => isFields(value) && Object.values(value).every((one) => typeof one === 'string'),
  'give texts by name',
)

/** Returns the shape of an object that checks some fields of a type and ignores the others. */
export function partly<T>(fields: Partial<Fields<T>>): Shape<T> {
  const entries = Object.entries(fields) as [string, Shape<unknown> | Maybe<unknown>][]
  const shapes = entries.map(([key, field]) =>
    typeof field === 'function' ? { key, shape: field, isNeeded: true } : { key, shape: field.maybe },
  )
  return (value) => {
    if (!isFields(value)) return notAnObject
    for (const { key, shape, isNeeded = false } of shapes) {
      if (!(key in value)) {
        if (isNeeded) return { path: [key], what: 'it is missing' }
        continue
      }
      const wrong = shape(value[key])
      if (wrong !== undefined) return at(key, wrong)
    }
    return undefined
  }
}

/** Returns the shape of an object with all fields of a type. Unknown fields of a newer version are allowed. */
export const fields = <T>(all: Fields<T>): Shape<T> => partly(all)

/** Returns the shape of an object with exactly the fields of a type. */
export function onlyFields<T>(all: Fields<T>): Shape<T> {
  const shape = partly<T>(all)
  return (value) => {
    const extra = isFields(value) ? Object.keys(value).find((key) => !Object.hasOwn(all, key)) : undefined
    return extra === undefined ? shape(value) : { path: [], what: unknownField(extra, Object.keys(all)) }
  }
}

/** Returns the shape of a union of objects, told apart by the value of one field. */
export const oneOf =
  <K extends string, T extends { readonly [F in K]: string }>(
    key: K,
    shapes: { readonly [W in T[K]]: Shape<Extract<T, { readonly [F in K]: W }>> },
  ): Shape<T> =>
  (value) => {
    if (!isFields(value)) return notAnObject
    const kind = value[key]
    if (typeof kind === 'string' && Object.hasOwn(shapes, kind)) return shapes[kind as T[K]](value)
    return { path: [key], what: `${JSON.stringify(kind)} is not known` }
  }
