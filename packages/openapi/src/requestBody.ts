import type { JsonSchema } from '../../../src/protocol/ports/model.ts'
import type { BodyForm } from './fields.ts'
import { bodyKey, isJson, isPlain } from './fields.ts'
import { fileNameOf, multipartOf, type FormPart } from './multipart.ts'
import { encodeForm, encodeFormReserved, plain, styledPairs, type Pair } from './parameters.ts'
import { isFields } from '../../../src/protocol/checks/isObject.ts'
import { jsonText } from './wholeNumbers.ts'

/** The content of a request, and its type. */
export interface Content {
  readonly body: string | Uint8Array<ArrayBuffer>
  readonly contentType: string
}

const dataUrl = /^data:([^;,]*)((?:;[^;,]+)*);base64,/i

interface FileContent {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly type?: string
  readonly fileName?: string
}

/** Returns the bytes that a text stands for: those of a data URL, which may have a `name`, or else the text itself. Pure. */
function bytesOf(text: string): FileContent {
  const [head, type = '', more = ''] = dataUrl.exec(text) ?? []
  if (head === undefined) return { bytes: new TextEncoder().encode(text) }
  const [, name = ''] = /;(?:file)?name=([^;]+)/i.exec(more) ?? []
  const fileName = decoded(name).replace(/^.*[/\\]/s, '')
  return {
    bytes: new Uint8Array(Buffer.from(text.slice(head.length), 'base64')),
    ...(type === '' ? {} : { type }),
    ...(fileName === '' ? {} : { fileName }),
  }
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** Converts the argument `body` for its operation. `schema` is that of all arguments. */
export function contentOf(form: BodyForm, value: unknown, { properties, $defs }: JsonSchema): Content {
  const { contentType } = form
  if (isPlain(form)) {
    const text = plain(value)
    return contentType.startsWith('text/')
      ? { body: text, contentType }
      : {
          body: bytesOf(text).bytes,
          contentType: contentType.includes('*') ? (bytesOf(text).type ?? 'application/octet-stream') : contentType,
        }
  }
  if (/^multipart\//i.test(contentType)) return multipartOf(partsOf(form, value))
  if (/urlencoded/i.test(contentType))
    return { body: urlEncoded(form, value), contentType: 'application/x-www-form-urlencoded' }
  const body = isFields(properties) ? properties[bodyKey] : undefined
  return { body: jsonText(value, body, isFields($defs) ? $defs : {}), contentType }
}

/** Returns the fields of a form, except those that are `null`. */
const fieldsIn = (value: unknown): readonly (readonly [string, unknown])[] =>
  isFields(value) ? Object.entries(value).filter(([, inner]) => inner !== null && inner !== undefined) : []

const itemsOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

type Encoding = NonNullable<BodyForm['media']['encoding']>[string]

const encodingOf = ({ media }: BodyForm, name: string): Encoding | undefined =>
  media.encoding !== undefined && Object.hasOwn(media.encoding, name) ? media.encoding[name] : undefined

/** True for a form field that is written like a query parameter. Otherwise each of its values has its own type. Pure. */
const isStyled = (encoding: Encoding | undefined): boolean =>
  (encoding?.style ?? encoding?.explode ?? encoding?.allowReserved) !== undefined

const styled = (name: string, encoding: Encoding | undefined) => ({
  name,
  in: 'query' as const,
  style: encoding?.style,
  explode: encoding?.explode,
})

function urlEncoded(form: BodyForm, value: unknown): string {
  const pairs = fieldsIn(value).flatMap(([name, inner]): readonly Pair[] => {
    const encoding = encodingOf(form, name)
    const code = encoding?.allowReserved === true ? encodeFormReserved : encodeForm
    if (isStyled(encoding)) return styledPairs(styled(name, encoding), inner, code)
    if (isJson(encoding?.contentType ?? '')) return [[encodeForm(name), encodeForm(JSON.stringify(inner))]]
    return itemsOf(inner).map((one): Pair => [encodeForm(name), encodeForm(plain(one))])
  })
  return pairs.map(([name, text]) => `${name}=${text}`).join('&')
}

const partsOf = (form: BodyForm, value: unknown): readonly FormPart[] =>
  fieldsIn(value).flatMap(([name, inner]): readonly FormPart[] => {
    const encoding = encodingOf(form, name)
    const type = encoding?.contentType
    if (form.files.has(name)) return itemsOf(inner).map((one) => filePart(name, plain(one), type))
    if (isStyled(encoding))
      return styledPairs(styled(name, encoding), inner, (text) => text).map(([key, text]) => ({
        name: key,
        value: text,
      }))
    // One type for the whole of a list: it is not a part for each of its items.
    if (Array.isArray(inner) && isJson(type ?? '')) return [{ name, value: JSON.stringify(inner), type: exact(type) }]
    return itemsOf(inner).map((one) => ({
      name,
      value: plain(one),
      type: exact(type) ?? (typeof one === 'object' && one !== null ? 'application/json' : undefined),
    }))
  })

function filePart(name: string, text: string, wanted: string | undefined): FormPart {
  const { bytes, type: given, fileName } = bytesOf(text)
  const type = given ?? exact(wanted)
  return {
    name,
    value: bytes,
    type: type ?? 'application/octet-stream',
    fileName: fileName ?? fileNameOf(name, type),
  }
}

/** Returns the first concrete type in a list, not one like `image/*`. Pure. */
const exact = (types: string | undefined): string | undefined =>
  types
    ?.split(',')
    .map((type) => type.trim())
    .find((type) => type !== '' && !type.includes('*'))
