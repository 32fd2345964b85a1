import type { Parameter } from './documentSchema.ts'
import type { Field } from './fields.ts'
import { isFields } from '../../../src/protocol/checks/isObject.ts'

/** A name and a value in an address, a header or a cookie. */
export type Pair = readonly [name: string, value: string]

/** Returns one value as text. */
export const plain = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

/** Encodes text for an address. */
export const encode = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (unit) => `%${unit.charCodeAt(0).toString(16).toUpperCase()}`,
  )

/** Encodes a value but leaves characters that an address may hold: for parameters that allow reserved characters. */
const encodeReserved = (text: string): string =>
  encodeURI(text.toWellFormed()).replaceAll('#', '%23').replaceAll('&', '%26')

/** Encodes text for a form. */
export const encodeForm = (text: string): string => encode(text).replaceAll('%20', '+').replaceAll('%2A', '*')

/** Encodes a value but leaves characters that a form may hold, in which `+` is a space: for fields that allow reserved characters. */
export const encodeFormReserved = (text: string): string =>
  encodeReserved(text).replaceAll('+', '%2B').replaceAll('%20', '+')

/** True for a parameter with `content`, which is sent as JSON. */
const isJsonParameter = ({ content }: Parameter): boolean => content !== undefined

type Code = (text: string) => string
const asIs: Code = (text) => text

/** Separators of a list's values that are sent as one value, by style. */
const separators: { readonly [style: string]: string } = { spaceDelimited: '%20', pipeDelimited: '%7C' }

/** Fields that determine how a value is written. */
type Styled = Pick<Parameter, 'name' | 'in' | 'style' | 'explode'>

const isThere = (value: unknown): boolean => value !== null && value !== undefined

/** Returns the encoded names and values of a parameter: several where a list or an object is spread out, none for `null`. Pure. */
function pairsOf(parameter: Parameter, value: unknown, code: Code): readonly Pair[] {
  return isJsonParameter(parameter)
    ? [[code(parameter.name), code(JSON.stringify(value))]]
    : styledPairs(parameter, value, code)
}

/** Returns the names and values of a parameter or form field that has a style. Pure. */
export function styledPairs(parameter: Styled, value: unknown, code: Code): readonly Pair[] {
  if (!isThere(value)) return []
  const name = code(parameter.name)
  const style = parameter.style ?? (parameter.in === 'query' || parameter.in === 'cookie' ? 'form' : 'simple')
  if (style === 'deepObject') return deepPairs(parameter.name, value, code)
  const isSpread = parameter.explode ?? style === 'form'
  const coded = (one: unknown): string => code(plain(one))
  const separator = separators[style] ?? ','
  if (Array.isArray(value)) {
    const items = value.filter(isThere).map(coded)
    return isSpread && style !== 'simple' ? items.map((item) => [name, item]) : [[name, items.join(separator)]]
  }
  if (!isFields(value)) return [[name, coded(value)]]
  const entries = Object.entries(value).filter(([, inner]) => isThere(inner))
  if (isSpread && style !== 'simple') return entries.map(([key, inner]) => [code(key), coded(inner)])
  const joined = isSpread ? '=' : separator
  return [[name, entries.map(([key, inner]) => `${code(key)}${joined}${coded(inner)}`).join(separator)]]
}

/** Returns the pairs of a nested value. Inner names stand in brackets, as do the indexes of items that are not single values. */
function deepPairs(name: string, value: unknown, code: Code): readonly Pair[] {
  if (!isThere(value)) return []
  if (Array.isArray(value)) {
    const isNumbered = value.some((item) => typeof item === 'object' && item !== null)
    return value.flatMap((item, index) => deepPairs(`${name}[${isNumbered ? index : ''}]`, item, code))
  }
  if (!isFields(value)) return [[code(name), code(plain(value))]]
  return Object.entries(value).flatMap(([key, inner]) => deepPairs(`${name}[${key}]`, inner, code))
}

/** Returns the path segment for a parameter. Pure. */
function pathPart(parameter: Parameter, value: unknown): string {
  if (isJsonParameter(parameter)) return encode(JSON.stringify(value))
  const { name, style = 'simple', explode = false } = parameter
  if (!isThere(value)) return ''
  const items = Array.isArray(value)
    ? value.map((item) => encode(plain(item)))
    : isFields(value)
      ? Object.entries(value).map(([key, inner]) => `${encode(key)}${explode ? '=' : ','}${encode(plain(inner))}`)
      : [encode(plain(value))]
  if (style === 'label') return `.${items.join(explode ? '.' : ',')}`
  if (style !== 'matrix') return items.join(',')
  return explode && typeof value === 'object'
    ? items.map((item) => (Array.isArray(value) ? `;${encode(name)}=${item}` : `;${item}`)).join('')
    : `;${encode(name)}=${items.join(',')}`
}

/** Maximum number of times that services may decode a path, some before they split it, some with `;` as the end of a segment. */
const mostDecoded = 5

/** True if a segment, however it is written, shortens an address so that the call would go to another operation. Pure. */
function leadsElsewhere(segment: string): boolean {
  let decoded = segment
  for (let times = 0; times <= mostDecoded; times++) {
    const parts = decoded.split(/[/\\]/)
    // Dots alone that are encoded twice are data.
    const isPath = times < 2 || parts.length > 1
    if (isPath && parts.some((part) => /^\.{1,2}$/.test(part.split(';', 1)[0]!.trim()))) return true
    const next = decoded.replace(/%[\da-f]{2}/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)))
    if (next === decoded) return false
    decoded = next
  }
  // Nobody means what is encoded as often as that.
  return true
}

/** The parameters of a call, by their place in the request. */
interface Placed {
  readonly path: string
  readonly query: string
  readonly headers: readonly Pair[]
  readonly cookies: readonly Pair[]
}

/**
 * Puts the arguments of a call in their places in the request. Pure.
 *
 * @throws Error for the model, if a value would lead to another path
 */
export function placed(template: string, fields: readonly Field[], input: { readonly [key: string]: unknown }): Placed {
  // Some documents tell operations of one address apart by what follows it.
  const [, address = '', fixed = ''] = /^((?:\{[^{}]*\}|[^?#])*)(?:\?((?:\{[^{}]*\}|[^#])*))?/.exec(template) ?? []
  let path = address
  let given = fixed
  const query: string[] = []
  const headers: Pair[] = []
  const cookies: Pair[] = []
  for (const { key, parameter } of fields) {
    if (!Object.hasOwn(input, key)) continue
    const value = input[key]
    switch (parameter.in) {
      case 'path': {
        const part = pathPart(parameter, value)
        if (part === '') throw new Error(`The argument ${key} is empty, and it is part of the address.`)
        path = path.replaceAll(`{${parameter.name}}`, () => part)
        given = given.replaceAll(`{${parameter.name}}`, () => part)
        break
      }
      case 'query': {
        const code = parameter.allowReserved === true ? encodeReserved : encode
        query.push(...pairsOf(parameter, value, code).map(([name, text]) => `${name}=${text}`))
        break
      }
      case 'header':
        headers.push(...pairsOf(parameter, value, asIs).slice(0, 1))
        break
      case 'cookie':
        cookies.push(...pairsOf(parameter, value, encode))
        break
    }
  }
  if (path.split('/').some(leadsElsewhere))
    throw new Error('An argument that is part of the address has "." or ".." as a segment, which leads to another one.')
  return { path, query: [given, ...query].filter((part) => part !== '').join('&'), headers, cookies }
}
