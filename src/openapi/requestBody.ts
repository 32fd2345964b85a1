import type { JsonSchema } from '../protocol/model.ts'
import type { BodyForm } from './fields.ts'
import { bodyKey, isPlain } from './fields.ts'
import { plain } from './parameters.ts'
import { isObject } from './references.ts'
import { jsonText } from './wholeNumbers.ts'

/** The content of a request; without a type where `fetch` says it. */
export interface Content {
  readonly body: string | Uint8Array<ArrayBuffer> | FormData
  readonly contentType: string | undefined
}

const dataUrl = /^data:([^;,]+)(?:;[^;,]+)*;base64,/i

/** The bytes that a text stands for: those of a data URL, else its own. Pure. */
function bytesOf(text: string): { readonly bytes: Uint8Array<ArrayBuffer>; readonly type: string | undefined } {
  const [head, type] = dataUrl.exec(text) ?? []
  if (head === undefined) return { bytes: new TextEncoder().encode(text), type: undefined }
  return { bytes: new Uint8Array(Buffer.from(text.slice(head.length), 'base64')), type }
}

/** The argument `body` as its operation takes it; `schema` is that of all arguments. Pure. */
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
  if (/^multipart\//i.test(contentType)) return { body: formData(form, value), contentType: undefined }
  if (/urlencoded/i.test(contentType))
    return { body: urlEncoded(value), contentType: 'application/x-www-form-urlencoded' }
  const body = isObject(properties) ? properties[bodyKey] : undefined
  return { body: jsonText(value, body, isObject($defs) ? $defs : {}), contentType }
}

const entriesOf = (value: unknown): readonly (readonly [string, unknown])[] =>
  isObject(value)
    ? Object.entries(value).flatMap(([name, inner]): (readonly [string, unknown])[] =>
        Array.isArray(inner) ? inner.map((one: unknown) => [name, one] as const) : [[name, inner]],
      )
    : []

const urlEncoded = (value: unknown): string =>
  new URLSearchParams(entriesOf(value).map(([name, inner]): [string, string] => [name, plain(inner)])).toString()

function formData({ files, media }: BodyForm, value: unknown): FormData {
  const data = new FormData()
  for (const [name, inner] of entriesOf(value)) {
    const text = plain(inner)
    if (files.has(name)) {
      const { bytes, type } = bytesOf(text)
      const named = media.encoding?.[name]?.contentType
      data.append(name, new Blob([bytes], { type: type ?? named ?? 'application/octet-stream' }), name)
    } else data.append(name, text)
  }
  return data
}
