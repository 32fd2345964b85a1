import { isDeepStrictEqual } from 'node:util'
import { isObject, type Json, listOf, objectOf, textOf } from './reading.ts'
import { argumentOf, type Reference, type Wanted } from './reference.ts'

/** One thing that the two requests have otherwise; `argued`: why ours is right. */
export interface Difference {
  readonly what: string
  readonly argued?: string
  readonly sent: unknown
  readonly wanted: unknown
}

const pairsOf = (query: string): readonly (readonly [string, string])[] =>
  [...new URLSearchParams(query)].toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))

const strangers = (of: readonly (readonly string[])[], others: readonly (readonly string[])[]): readonly unknown[] =>
  of.filter((one) => !others.some((other) => isDeepStrictEqual(one, other))).slice(0, 4)

const asNumbered = 'objects and lists within deepObject as the package qs writes them, and Stripe wants them'

/** Where a request is not what another client would send. */
export async function differences({
  sent,
  wanted,
  operation,
  input,
  reference,
}: {
  readonly sent: Request
  readonly wanted: Wanted
  readonly operation: Json
  readonly input: Json
  readonly reference: Reference
}): Promise<readonly Difference[]> {
  const url = new URL(sent.url)
  const found: Difference[] = []
  const note = (what: string, one: unknown, other: unknown, argued?: string): void =>
    void found.push({ what, sent: one, wanted: other, ...(argued === undefined ? {} : { argued }) })
  if (url.origin !== wanted.url.origin) note('origin', url.origin, wanted.url.origin)
  // Some characters may stand in a path both ways.
  if (plainPath(url) !== plainPath(wanted.url)) note('path', url.pathname, wanted.url.pathname)
  const parameters = listOf(operation['parameters']).map(objectOf)
  const deep = parameters.filter(({ style }) => style === 'deepObject').map(({ name }) => String(name))
  pairs('query', url.search.slice(1), wanted.url.search.slice(1), deep, input)
  for (const { name, in: place } of parameters) {
    if (place !== 'header' || argumentOf(String(name), 'header', input) === undefined) continue
    if (/^(?:accept|content-type|authorization)$/i.test(String(name))) continue
    const [one, other] = [sent.headers.get(String(name)), wanted.headers.get(String(name))]
    if (one !== other) note('header', one, other)
  }
  if (parameters.some(({ in: place }) => place === 'cookie')) {
    const [one, other] = [sent.headers.get('cookie'), wanted.headers.get('cookie')]
    if (one !== other) note('cookie', one, other)
  }
  if (input['body'] !== undefined) await body()
  return found

  function pairs(what: string, one: string, other: string, deepNames: readonly string[], values: Json): void {
    const [ours, theirs] = [pairsOf(one), pairsOf(other)]
    if (isDeepStrictEqual(ours, theirs)) return
    const isOfDeep = ([name]: readonly [string, string]): boolean =>
      deepNames.some((field) => name === field || name.startsWith(`${field}[`))
    const fields = Object.fromEntries(Object.entries(values).filter(([name]) => deepNames.includes(name)))
    const rest = theirs.filter((pair) => !isOfDeep(pair))
    const nested = [...rest, ...pairsOf(reference.nested(fields))]
    const isAlike = isDeepStrictEqual(unnumbered(ours), unnumbered(nested))
    note(
      what,
      strangers(ours, theirs),
      strangers(theirs, ours),
      deepNames.length > 0 && isAlike ? asNumbered : undefined,
    )
  }

  async function body(): Promise<void> {
    const given = input['body']
    const type = sent.headers.get('content-type')?.split(';')[0] ?? ''
    const other = wanted.headers.get('content-type')?.split(';')[0] ?? type
    if (type !== other) note('content type', type, other, whyOtherType(type, other))
    if (/\bjson\b/.test(type)) {
      const json: unknown = await sent.json()
      if (!isDeepStrictEqual(json, given)) note('JSON', json, given)
    } else if (/urlencoded/.test(type)) {
      const encoding = objectOf(objectOf(objectOf(objectOf(operation['requestBody'])['content'])[type])['encoding'])
      const deepFields = Object.keys(encoding).filter((name) => objectOf(encoding[name])['style'] === 'deepObject')
      pairs('form', await sent.text(), formOf(wanted.body), deepFields, objectOf(given))
    } else if (type.startsWith('multipart/')) await parts(given)
    else {
      const text = Buffer.from(await sent.arrayBuffer()).toString('latin1')
      const whole = Buffer.from(typeof given === 'string' ? given : '').toString('latin1')
      if (text !== whole && !whole.startsWith('data:')) note('body', text, whole)
    }
  }

  /** The other client writes lists into one part, with commas, objects as text without a type, and texts with a type as files. */
  async function parts(given: unknown): Promise<void> {
    const ours = await partsOf(await sent.formData())
    const theirs = wanted.body instanceof FormData ? await partsOf(wanted.body) : []
    const byField = (list: readonly (readonly string[])[]) =>
      Map.groupBy(list, ([name = '']) => name.replace(/\[.*$/, ''))
    const [own, other] = [byField(ours), byField(theirs)]
    for (const name of new Set([...own.keys(), ...other.keys()])) {
      const [some = [], wantedOnes = []] = [own.get(name), other.get(name)]
      if (!isDeepStrictEqual(some, wantedOnes))
        note('part', some, wantedOnes, whyOtherParts(some, wantedOnes, objectOf(given)[name]))
    }
  }
}

function whyOtherParts(
  some: readonly (readonly string[])[],
  others: readonly (readonly string[])[],
  value: unknown,
): string | undefined {
  if (isEmpty(value) && some.length === 0) return 'an empty list or object has no part'
  if (Array.isArray(value) || isObject(value))
    return 'a list is a part for each item, an object one or more of its type'
  const [[, text = '', ...more] = []] = some
  const [, other = ''] = others[0] ?? []
  const isText = more.length === 0 && others[0]?.at(-1) === Buffer.from(text).toString('base64')
  if (isText) return 'a text with a type of its own is no file'
  return more[0] === Buffer.from(other).toString('base64') ? 'a file by its contentEncoding' : undefined
}

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0

const plainPath = ({ pathname }: URL): string => pathname.split('/').map(decodeURIComponent).join('\n')

const unnumbered = (pairs: readonly (readonly [string, string])[]): readonly unknown[] =>
  pairs.map(([name, value]) => JSON.stringify([name.replaceAll(/\[\d+\]/g, '[]'), value])).toSorted()

const formOf = (body: unknown): string => (body instanceof URLSearchParams ? body.toString() : textOf(body))

function whyOtherType(type: string, other: string): string | undefined {
  if (other === '*/*' && type === 'application/json') return 'any type is taken: JSON'
  return /json-patch/.test(other) && /json/.test(type) ? 'fields that change, as their schema has them' : undefined
}

const partsOf = (form: FormData): Promise<readonly (readonly string[])[]> =>
  Promise.all(
    [...form].map(async ([name, value]) =>
      typeof value === 'string'
        ? [name, value]
        : [name, value.type, Buffer.from(await value.arrayBuffer()).toString('base64')],
    ),
  )
