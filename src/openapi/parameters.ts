import type { Parameter } from './documentSchema.ts'
import type { Field } from './fields.ts'
import { isObject } from './references.ts'

/** A name and a value of an address, a header or a cookie. */
type Pair = readonly [name: string, value: string]

/** One value as text. */
export const plain = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

/** A text as a part of an address. */
export const encode = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (unit) => `%${unit.charCodeAt(0).toString(16).toUpperCase()}`)

/** Leaves what an address may hold: for parameters that say so. */
const encodeReserved = (text: string): string => encodeURI(text).replaceAll('#', '%23').replaceAll('&', '%26')

/** A parameter with `content` is JSON. */
const isJsonParameter = ({ content }: Parameter): boolean => content !== undefined

type Code = (text: string) => string
const asIs: Code = (text) => text

/** What stands between the values of a list that is one value. */
const separators: { readonly [style: string]: string } = { spaceDelimited: '%20', pipeDelimited: '%7C' }

/** The names and values of a parameter, in code; several where a list or an object is spread out. Pure. */
function pairsOf(parameter: Parameter, value: unknown, code: Code): readonly Pair[] {
  const name = code(parameter.name)
  if (isJsonParameter(parameter)) return [[name, code(JSON.stringify(value))]]
  const style = parameter.style ?? (parameter.in === 'query' || parameter.in === 'cookie' ? 'form' : 'simple')
  const isSpread = parameter.explode ?? style === 'form'
  const coded = (one: unknown): string => code(plain(one))
  const separator = separators[style] ?? ','
  if (Array.isArray(value)) {
    const items = value.map(coded)
    return isSpread && style !== 'simple' ? items.map((item) => [name, item]) : [[name, items.join(separator)]]
  }
  if (!isObject(value)) return [[name, coded(value)]]
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
  if (style === 'deepObject')
    return entries.flatMap(([key, inner]) => deepPairs(`${parameter.name}[${key}]`, inner, code))
  if (isSpread && style !== 'simple') return entries.map(([key, inner]) => [code(key), coded(inner)])
  const joined = isSpread ? '=' : separator
  return [[name, entries.map(([key, inner]) => `${code(key)}${joined}${coded(inner)}`).join(separator)]]
}

function deepPairs(name: string, value: unknown, code: Code): Pair[] {
  if (Array.isArray(value)) return value.map((item) => [code(name), code(plain(item))])
  if (!isObject(value)) return [[code(name), code(plain(value))]]
  return Object.entries(value).flatMap(([key, inner]) => deepPairs(`${name}[${key}]`, inner, code))
}

/** What stands in a path for a parameter. Pure. */
function pathPart(parameter: Parameter, value: unknown): string {
  if (isJsonParameter(parameter)) return encode(JSON.stringify(value))
  const { name, style = 'simple', explode = false } = parameter
  const items = Array.isArray(value)
    ? value.map((item) => encode(plain(item)))
    : isObject(value)
      ? Object.entries(value).map(([key, inner]) => `${encode(key)}${explode ? '=' : ','}${encode(plain(inner))}`)
      : [encode(plain(value))]
  if (style === 'label') return `.${items.join(explode ? '.' : ',')}`
  if (style !== 'matrix') return items.join(',')
  return explode && typeof value === 'object'
    ? items.map((item) => (Array.isArray(value) ? `;${encode(name)}=${item}` : `;${item}`)).join('')
    : `;${encode(name)}=${items.join(',')}`
}

/** The parameters of a call, where they belong. */
interface Placed {
  readonly path: string
  readonly query: string
  readonly headers: readonly Pair[]
  readonly cookies: readonly Pair[]
}

/**
 * Puts the arguments of a call where its operation takes them. Pure.
 *
 * @throws Error for the model, if a value would lead to another path
 */
export function placed(template: string, fields: readonly Field[], input: { readonly [key: string]: unknown }): Placed {
  let path = template
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
        break
      }
      case 'query': {
        const code = parameter.allowReserved === true ? encodeReserved : encode
        query.push(...pairsOf(parameter, value, code).map(([name, text]) => `${name}=${text}`))
        break
      }
      case 'header':
        headers.push([parameter.name, pairsOf(parameter, value, asIs)[0]?.[1] ?? ''])
        break
      case 'cookie':
        cookies.push(...pairsOf(parameter, value, encode))
        break
    }
  }
  // An address is made shorter by them: the call would go to another operation.
  if (path.split('/').some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment)))
    throw new Error('An argument that is part of the address is "." or "..", which leads to another one.')
  return { path, query: query.join('&'), headers, cookies }
}
