import { mostOps, pointerTo, type StateOp } from './patch.ts'

/** Maximum number of characters of a state as JSON. */
export const mostStateChars = 256 * 1024
/** Maximum number of characters of a patch as JSON. */
export const mostPatchChars = 64 * 1024
/** Maximum depth of lists and objects in a state. */
export const mostStateDepth = 32

/** Thrown for a value that cannot be a state. The message says where and why. */
export class NoState extends TypeError {}

/**
 * Returns a deep copy of a value as JSON has it: fields with `undefined` are left out, `-0` becomes `0`, and `toJSON` is applied.
 * Stops as soon as the value is too large.
 * @throws NoState for a value that JSON cannot hold (a cycle, a function, `NaN` …), and for one that is too large or too deep
 */
export function plainState(value: unknown): unknown {
  const copied = copy(value, { left: mostStateChars, steps: [] })
  const { length } = JSON.stringify(copied)
  if (length > mostStateChars) throw tooLarge('state', length, mostStateChars)
  return copied
}

interface Copying {
  /** Number of characters left for the rest. The count is a lower bound, so that no value is refused here that would fit. */
  left: number
  readonly steps: PropertyKey[]
}

const at = ({ steps }: Copying): string => (steps.length === 0 ? 'the state' : pointerTo(steps))

function copy(value: unknown, copying: Copying): unknown {
  spend(copying, typeof value === 'string' ? value.length + 2 : 1)
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      if (!Number.isFinite(value)) throw new NoState(`${at(copying)} is ${value}, which JSON does not have`)
      return value === 0 ? 0 : value
    case 'object':
      return value === null ? null : copyObject(value, copying)
    default:
      throw new NoState(`${at(copying)} is ${value === undefined ? '' : 'a '}${typeof value}, which JSON does not have`)
  }
}

function copyObject(value: object, copying: Copying): unknown {
  const { steps } = copying
  if (steps.length >= mostStateDepth)
    throw new NoState(`${at(copying)} is nested deeper than ${mostStateDepth} levels, or in a circle`)
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    steps.push('toJSON')
    const inner = copy(value.toJSON(), copying)
    steps.pop()
    return inner
  }
  const copyOf = (key: PropertyKey, item: unknown): unknown => {
    steps.push(key)
    const inner = copy(item, copying)
    steps.pop()
    return inner
  }
  if (Array.isArray(value))
    return Array.from(value, (item: unknown, index) => copyOf(index, item === undefined ? null : item))
  const fields: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue
    spend(copying, key.length + 3)
    Object.defineProperty(fields, key, {
      value: copyOf(key, item),
      enumerable: true,
      writable: true,
      configurable: true,
    })
  }
  return fields
}

function spend(copying: Copying, chars: number): void {
  copying.left -= chars
  if (copying.left < 0) throw tooLarge('state', undefined, mostStateChars)
}

const tooLarge = (what: string, chars: number | undefined, most: number): NoState =>
  new NoState(
    `the ${what} has ${chars === undefined ? 'more' : chars.toLocaleString('en')} characters as JSON${chars === undefined ? ` than the ${most.toLocaleString('en')} allowed` : `, and may have ${most.toLocaleString('en')}`}`,
  )

/** Checks the size of a patch. @throws NoState if it has too many changes or is too large */
export function checkPatch(patch: readonly StateOp[]): void {
  if (patch.length > mostOps)
    throw new NoState(
      `the patch has ${patch.length.toLocaleString('en')} changes, and may have ${mostOps.toLocaleString('en')}`,
    )
  const { length } = JSON.stringify(patch)
  if (length > mostPatchChars) throw tooLarge('patch', length, mostPatchChars)
}
