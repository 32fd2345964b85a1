import { sameJson } from '../../checks/sameJson.ts'

/** A change at one place of a state, as in RFC 6902. `path` is a JSON pointer; `''` is the whole state. */
export type StateOp =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }

/** Maximum number of changes in one patch. */
export const mostOps = 1_000

type Fields = Readonly<Record<string, unknown>>

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null

const written = (step: string): string => step.replaceAll('~', '~0').replaceAll('/', '~1')
const read = (step: string): string => step.replaceAll('~1', '/').replaceAll('~0', '~')

/** Returns the pointer to a place, from the names of its fields and the numbers of its elements. */
export const pointerTo = (steps: readonly PropertyKey[]): string =>
  steps.map((step) => `/${written(String(step))}`).join('')

const stepsOf = (path: string): string[] => path.split('/').slice(1).map(read)

/** Returns the changes that turn `from` into `to`: per field, and for lists by their common beginning and end. Both are JSON. Pure. */
export function difference(from: unknown, to: unknown): StateOp[] {
  const ops = opsBetween(from, to, '')
  return ops.length > mostOps ? [replaced('', to)] : ops
}

const replaced = (path: string, value: unknown): StateOp => ({ op: 'replace', path, value })

function opsBetween(from: unknown, to: unknown, path: string): StateOp[] {
  if (from === to) return []
  if (!isContainer(from) || !isContainer(to) || Array.isArray(from) !== Array.isArray(to)) return [replaced(path, to)]
  const ops = Array.isArray(from)
    ? opsOfLists(from, to as unknown[], path)
    : opsOfFields(from as Fields, to as Fields, path)
  // Many small changes of one part are longer than the part.
  return ops.length > mostOps ? [replaced(path, to)] : ops
}

function opsOfFields(from: Fields, to: Fields, path: string): StateOp[] {
  const ops: StateOp[] = []
  for (const key of Object.keys(from)) {
    if (!Object.hasOwn(to, key)) ops.push({ op: 'remove', path: `${path}/${written(key)}` })
  }
  for (const [key, value] of Object.entries(to)) {
    const place = `${path}/${written(key)}`
    if (Object.hasOwn(from, key)) for (const op of opsBetween(from[key], value, place)) ops.push(op)
    else ops.push({ op: 'add', path: place, value })
  }
  return ops
}

function opsOfLists(from: readonly unknown[], to: readonly unknown[], path: string): StateOp[] {
  const shorter = Math.min(from.length, to.length)
  let head = 0
  while (head < shorter && sameJson(from[head], to[head])) head += 1
  let tail = 0
  while (tail < shorter - head && sameJson(from.at(-1 - tail), to.at(-1 - tail))) tail += 1
  const ops: StateOp[] = []
  const paired = shorter - tail
  for (let index = head; index < paired; index += 1)
    for (const op of opsBetween(from[index], to[index], `${path}/${index}`)) ops.push(op)
  // From the end, so that the numbers of those before stay.
  for (let index = from.length - tail - 1; index >= paired; index -= 1)
    ops.push({ op: 'remove', path: `${path}/${index}` })
  for (let index = paired; index < to.length - tail; index += 1)
    ops.push({ op: 'add', path: `${path}/${index}`, value: to[index] })
  return ops
}

/** A value after a change, or the reason why the change does not fit. */
export type Applied =
  | { readonly value: unknown; readonly wrong?: undefined }
  | { readonly wrong: string; readonly value?: undefined }

/** Returns the value after one change. Unchanged parts are shared. Pure. */
export function applyOp(value: unknown, op: StateOp): Applied {
  const wrong = wrongInOp(op)
  if (wrong !== undefined) return { wrong }
  if (op.path !== '') return changed(value, stepsOf(op.path), op, 0)
  return op.op === 'remove' ? { wrong: 'the whole state cannot be removed' } : { value: frozenState(op.value) }
}

function wrongInOp({ op, path, ...rest }: StateOp): string | undefined {
  if (path !== '' && !path.startsWith('/')) return `${JSON.stringify(path)} is no pointer: it begins with "/"`
  return op === 'remove' || 'value' in rest ? undefined : `"${op}" of ${JSON.stringify(path)} has no value`
}

function changed(value: unknown, steps: readonly string[], op: StateOp, at: number): Applied {
  const step = steps[at]!
  const isLast = at === steps.length - 1
  if (!isContainer(value)) return { wrong: `${nameOf(steps, at)} has no fields` }
  const index = Array.isArray(value) ? indexIn(value, step, isLast && op.op === 'add') : undefined
  const isThere = Array.isArray(value) ? index !== undefined : Object.hasOwn(value, step)
  if (!isThere && !(isLast && op.op === 'add' && index === undefined && !Array.isArray(value)))
    return { wrong: `there is no ${nameOf(steps, at + 1)}` }
  if (isLast)
    return { value: Array.isArray(value) ? splicedAt(value, index!, op) : withField(value as Fields, step, op) }
  const inner = changed((value as Fields)[index ?? step], steps, op, at + 1)
  if (inner.wrong !== undefined) return inner
  const next: StateOp = { op: 'replace', path: '', value: inner.value }
  return { value: Array.isArray(value) ? splicedAt(value, index!, next) : withField(value as Fields, step, next) }
}

const nameOf = (steps: readonly string[], length: number): string =>
  length === 0 ? 'the state' : JSON.stringify(pointerTo(steps.slice(0, length)))

/** Returns the index of an element, or of the place after the last one if an element is added. */
function indexIn(list: readonly unknown[], step: string, isAdded: boolean): number | undefined {
  if (isAdded && step === '-') return list.length
  if (!/^(0|[1-9]\d{0,8})$/.test(step)) return undefined
  const index = Number(step)
  return index < list.length || (isAdded && index === list.length) ? index : undefined
}

function splicedAt(list: readonly unknown[], index: number, op: StateOp): readonly unknown[] {
  const copy = list.slice()
  if (op.op === 'remove') copy.splice(index, 1)
  else copy.splice(index, op.op === 'replace' ? 1 : 0, frozenState(op.value))
  return Object.freeze(copy)
}

function withField(fields: Fields, key: string, op: StateOp): Fields {
  const copy: Record<string, unknown> = { ...fields }
  if (op.op === 'remove') delete copy[key]
  // `__proto__` is data here; assigned, it would set the prototype.
  else
    Object.defineProperty(copy, key, {
      value: frozenState(op.value),
      enumerable: true,
      writable: true,
      configurable: true,
    })
  return Object.freeze(copy)
}

/** Freezes a plain value and everything in it. A value that is already frozen is taken to be frozen throughout. */
export function frozenState<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const inner of Object.values(value)) frozenState(inner)
  return Object.freeze(value)
}

/** Applies all changes, or none if one does not fit. Pure. */
export function applyPatch(value: unknown, patch: readonly StateOp[]): Applied {
  let result: Applied = { value }
  for (const op of patch) {
    result = applyOp(result.value, op)
    if (result.wrong !== undefined) return result
  }
  return result
}

/** Applies the changes that fit, in order. `lost` has the others. Pure. */
export function applyFitting(
  value: unknown,
  patch: readonly StateOp[],
): { readonly value: unknown; readonly kept: readonly StateOp[]; readonly lost: readonly StateOp[] } {
  const kept: StateOp[] = []
  const lost: StateOp[] = []
  let now = value
  for (const op of patch) {
    const result = applyOp(now, op)
    if (result.wrong === undefined) now = result.value
    ;(result.wrong === undefined ? kept : lost).push(op)
  }
  return { value: now, kept, lost }
}

/**
 * Returns the places that a patch touches. Adding or removing a list element, except at the end, moves the
 * elements after it, and so touches the list. Pure.
 */
export function touched(value: unknown, patch: readonly StateOp[]): string[] {
  const places: string[] = []
  let now = value
  for (const op of patch) {
    places.push(movesOthers(now, op) ? op.path.slice(0, op.path.lastIndexOf('/')) : op.path)
    const result = applyOp(now, op)
    if (result.wrong === undefined) now = result.value
  }
  return places
}

function movesOthers(value: unknown, { op, path }: StateOp): boolean {
  if (op === 'replace' || path === '') return false
  const steps = stepsOf(path)
  let list = value
  for (const step of steps.slice(0, -1)) {
    if (!isContainer(list) || !Object.hasOwn(list, step)) return false
    list = (list as Fields)[step]
  }
  if (!Array.isArray(list) || steps.at(-1) === '-') return false
  return Number(steps.at(-1)) < list.length - (op === 'remove' ? 1 : 0)
}

/** Returns the first of `places` that is one of the `others`, or above or below one. Pure. */
export function firstShared(places: readonly string[], others: readonly string[]): string | undefined {
  const all = new Set(others)
  const above = new Set(others.flatMap(prefixesOf))
  return places.find((place) => above.has(place) || [place, ...prefixesOf(place)].some((prefix) => all.has(prefix)))
}

/** Returns a place and those above it. */
function prefixesOf(place: string): string[] {
  const prefixes = [place]
  for (let end = place.lastIndexOf('/'); end >= 0; end = place.lastIndexOf('/', end - 1)) {
    prefixes.push(place.slice(0, end))
    if (end === 0) break
  }
  return prefixes
}
