import { messageOf } from '../../protocol/errors.ts'

/**
 * Returns the value of a tool as JSON. Objects that JSON cannot represent and would show as `{}` (a Map, an Error, a
 * Response, a promise) are replaced by their names. `undefined` becomes `''`.
 *
 * @throws TypeError for circular values and for bigints
 */
export function jsonOf(value: unknown): string {
  if (typeof value === 'function' || typeof value === 'symbol') return `[a ${typeof value}, which is no JSON]`
  const text = JSON.stringify(value) ?? ''
  // What has come out goes in no circle.
  return holdsLost(value) ? JSON.stringify(value, (_, inner: unknown) => lostName(inner) ?? inner) : text
}

function holdsLost(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(holdsLost)
  if (lostName(value) !== undefined) return true
  return !hasToJson(value) && Object.values(value).some(holdsLost)
}

const hasToJson = (value: object): boolean => typeof (value as { readonly toJSON?: unknown }).toJSON === 'function'

/** Describes an object that is not plain and that JSON would show as empty, or byte by byte. */
function lostName(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const prototype: unknown = Object.getPrototypeOf(value)
  // Of another realm, too.
  if (prototype === null || Object.getPrototypeOf(prototype) === null || hasToJson(value)) return undefined
  const tag = Object.prototype.toString.call(value).slice('[object '.length, -1)
  if (tag === 'String' || tag === 'Number' || tag === 'Boolean') return undefined
  const name = tag === 'Object' || tag === 'Error' ? nameOf(value) : tag
  if (value instanceof Error || tag === 'Error') return `[${name}: ${messageOf((value as Error).message)}]`
  if (ArrayBuffer.isView(value)) return `[${name} of ${value.byteLength} bytes, which is no JSON]`
  return Object.keys(value).length === 0 ? `[${name}, which is no JSON]` : undefined
}

const nameOf = ({ constructor }: object): string =>
  typeof constructor === 'function' && constructor.name !== '' ? constructor.name : 'an object'
