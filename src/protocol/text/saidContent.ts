import type { FileBlock, ImageBlock, MediaBlock, TextBlock } from '../messages.ts'
import { toBase64 } from './toBase64.ts'

const dataUrl = /^data:([^;,]+)(?:;[^;,]+)*;base64,/i

/** Maximum length of a message in UTF-16 units, including the base64 of its images and files. */
export const maxContentChars = 32 * 1024 * 1024

/** Error messages for blank content and for content larger than `maxContentChars`. */
export const saidNothing = 'it is empty: give some text, an image or a file'
export const saidTooMuch = `it is larger than ${maxContentChars} characters: pass a file path and a tool that reads it`

/** Longest address of an image, in UTF-16 units. */
const maxUrlChars = 8 * 1024

/** An image as an application gives it: bytes or base64, or an address, which may be a data URL. */
export type SaidImage =
  | { readonly type: 'image'; readonly data: string | Uint8Array; readonly mimeType: string }
  | { readonly type: 'image'; readonly url: string; readonly mimeType?: string }

/** A file as an application gives it: bytes, base64 or a data URL. */
export type SaidFile = {
  readonly type: 'file'
  readonly data: string | Uint8Array
  readonly mimeType: string
  readonly name?: string
}

export type SaidMedia = SaidImage | SaidFile

/** A block from a person or a tool: text, or an image or a file as an application gives it. */
export type SaidBlock = TextBlock | SaidMedia

/** A message to an agent: a text, or blocks of text, images and files. */
export type Content = string | SaidBlock[]

/** A block in its stored form. */
type KeptBlock = TextBlock | MediaBlock

/** Returns the length of a block in UTF-16 units. */
export const charsOf = (block: KeptBlock): number =>
  block.type === 'text' ? block.text.length : 'url' in block ? block.url.length : block.data.length

/** Returns true if a block holds more than white space. */
export const saysSomething = (block: KeptBlock): boolean =>
  block.type === 'text' ? block.text.trim() !== '' : charsOf(block) > 0

/** Returns the length of all blocks together. */
export const measured = (blocks: readonly KeptBlock[]): number => blocks.reduce((sum, block) => sum + charsOf(block), 0)

/** Converts content to JSON: bytes become base64. A value that is not content is returned unchanged. */
export const withoutBytes = (content: Content): Content =>
  Array.isArray(content) ? content.map((block) => (isBytes(block) ? mediaOf(block) : block)) : content

const isBytes = (block: Exclude<Content, string>[number]): block is SaidMedia =>
  (block?.type === 'image' || block?.type === 'file') && 'data' in block && block.data instanceof Uint8Array

export const mediaOf = (said: SaidMedia): MediaBlock => (said.type === 'file' ? fileOf(said) : imageOf(said))

/** Returns an image in its stored form: base64, or an address. A data URL becomes base64, and its own type is used. */
export function imageOf(image: SaidImage): ImageBlock {
  if ('url' in image && image.url !== undefined) {
    const { url, mimeType } = image
    if (dataUrl.test(url.slice(0, 200))) return { type: 'image', ...base64Of(url, mimeType ?? '') }
    return mimeType === undefined ? { type: 'image', url } : { type: 'image', url, mimeType }
  }
  const { data, mimeType } = image as Extract<SaidImage, { data: unknown }>
  return { type: 'image', ...base64Of(data, mimeType) }
}

/** Returns a file in its stored form, as base64. */
export const fileOf = ({ data, mimeType, name }: SaidFile): FileBlock => ({
  type: 'file',
  ...base64Of(data, mimeType),
  ...(name === undefined || name === '' ? {} : { name }),
})

function base64Of(given: string | Uint8Array, mimeType: string): { data: string; mimeType: string } {
  const data = typeof given === 'string' ? given : toBase64(given)
  // A long text is not searched: a data URL begins with its type.
  const [head, type] = dataUrl.exec(data.slice(0, 200)) ?? []
  if (head === undefined || type === undefined) return { data, mimeType }
  return { data: data.slice(head.length), mimeType: type.toLowerCase() }
}

interface Fields {
  readonly type?: unknown
  readonly data?: unknown
  readonly url?: unknown
  readonly mimeType?: unknown
  readonly name?: unknown
}

/** Returns the fault of an image or a file, worded for its sender; `undefined` if there is none. */
export const wrongInMedia = (block: Fields): string | undefined =>
  block.type === 'file' ? wrongInFile(block) : wrongInImage(block)

/** Returns the fault of an image, worded for its sender; `undefined` if there is none. */
export function wrongInImage({ data, url, mimeType }: Fields): string | undefined {
  if (data !== undefined && url !== undefined) return 'it has data and a url: give one of them'
  if (mimeType !== undefined && typeof mimeType !== 'string')
    return `its mimeType is ${kindOf(mimeType)}: give one like "image/png"`
  if (url !== undefined) return wrongInUrl(url)
  if (typeof mimeType !== 'string') return `its mimeType is ${kindOf(mimeType)}: give one like "image/png"`
  return wrongInData(data, ', or a url')
}

/** Returns the fault of a file, like `wrongInImage` for an image. */
export function wrongInFile({ data, url, mimeType, name }: Fields): string | undefined {
  if (url !== undefined) return 'it has a url: give its bytes as data, or the address as text'
  if (typeof mimeType !== 'string' || !/^[\w.+-]+\/[\w.+*-]+/.test(mimeType))
    return `its mimeType is ${typeof mimeType === 'string' ? JSON.stringify(mimeType.slice(0, 40)) : kindOf(mimeType)}: give one like "application/pdf"`
  if (name !== undefined && typeof name !== 'string') return `its name is ${kindOf(name)}: give a text`
  return wrongInData(data, '')
}

/** Returns true if a text is valid base64. Providers would refuse every request with anything else. */
export const isBase64 = (text: string): boolean => /^[A-Za-z0-9+/]*={0,2}$/.test(text)

/**
 * Returns the standard name of an image type that every provider accepts; `undefined` for any other type, for which providers refuse the whole
 * request. `mimeType` has no parameters.
 */
export function pictureType(mimeType: string): string | undefined {
  const [, kind] = /^image\/(png|jpe?g|gif|webp)$/i.exec(mimeType) ?? []
  return kind === undefined ? undefined : `image/${kind.toLowerCase().replace('jpg', 'jpeg')}`
}

const wrongInBytes = (text: string): string | undefined => (isBase64(text) ? undefined : 'its data is not base64')

function wrongInData(data: unknown, orUrl: string): string | undefined {
  if (data instanceof Uint8Array) return undefined
  if (data instanceof ArrayBuffer) return 'its data is an ArrayBuffer: give new Uint8Array(data)'
  if (typeof data !== 'string') return `its data is ${kindOf(data)}: give base64 or bytes${orUrl}`
  const head = dataUrl.exec(data.slice(0, 200))?.[0]
  if (head !== undefined || !/^[a-z][a-z0-9+.-]*:/i.test(data.slice(0, 40)))
    return wrongInBytes(head === undefined ? data : data.slice(head.length))
  const asUrl = orUrl === '' ? 'give' : 'give it as url, or give'
  return `its data is an address, ${JSON.stringify(data.slice(0, 40))}: ${asUrl} base64 or a data URL of it`
}

function wrongInUrl(url: unknown): string | undefined {
  if (typeof url !== 'string') return `its url is ${kindOf(url)}: give a text`
  if (/^data:/i.test(url)) {
    const head = dataUrl.exec(url.slice(0, 200))?.[0]
    if (head === undefined) return 'its url is a data URL without base64: give one with base64'
    return wrongInBytes(url.slice(head.length))
  }
  const seen = JSON.stringify(url.slice(0, 40))
  if (url.length > maxUrlChars) return `its url has ${url.length} characters, and ${maxUrlChars} are allowed`
  if (!/^https?:/i.test(url) || !URL.canParse(url))
    return `its url is ${seen}: give an https: or http: address, or a data URL`
  const { username, password } = new URL(url)
  if (username !== '' || password !== '')
    return 'its url holds a name or password, which would be kept in the log: leave them out'
  return undefined
}

const shape =
  'give a text, or a list of { type: "text", text }, { type: "image", data, mimeType }, { type: "image", url } and { type: "file", data, mimeType }'

/** Returns the fault of a message to an agent, as the schema of commands reports it; `undefined` if there is none. */
export function wrongInSaid(content: unknown): string | undefined {
  if (
    typeof content !== 'string' &&
    (!Array.isArray(content) || content.some((block) => wrongInBlock(block) !== undefined))
  )
    return wrongInContent(content)
  return wrongInBlocks(
    typeof content === 'string'
      ? [{ type: 'text', text: content }]
      : (content as SaidBlock[]).map((block) => (block.type === 'text' ? block : mediaOf(block))),
  )
}

/** Returns the fault of all blocks together. */
function wrongInBlocks(blocks: readonly KeptBlock[]): string | undefined {
  if (!blocks.some(saysSomething)) return saidNothing
  return measured(blocks) > maxContentChars ? saidTooMuch : undefined
}

/** Describes the fault of content that was meant for an agent, and its expected shape. */
export function wrongInContent(content: unknown): string {
  if (!Array.isArray(content)) return `it is ${kindOf(content)}: ${shape}`
  for (const [index, block] of content.entries()) {
    const wrong = wrongInBlock(block)
    if (wrong !== undefined) return `block ${index}: ${wrong}`
  }
  return shape
}

function wrongInBlock(block: unknown): string | undefined {
  if (typeof block !== 'object' || block === null) return `it is ${kindOf(block)}: ${shape}`
  const { type, text, ...media } = block as { readonly [field: string]: unknown }
  if (type === 'text') return typeof text === 'string' ? undefined : `its text is ${kindOf(text)}`
  if (type === 'image' || type === 'file') return wrongInMedia({ type, ...media })
  return `its type is ${typeof type === 'object' || typeof type === 'bigint' ? kindOf(type) : JSON.stringify(type)}: ${shape}`
}

const kindOf = (value: unknown): string =>
  value === null
    ? 'null'
    : Array.isArray(value)
      ? 'a list'
      : value === undefined
        ? 'missing'
        : `of type ${typeof value}`

/**
 * Counts the UTF-16 units of a JSON value as text, without escapes: the lengths of strings and names, and an upper bound for all other values. A unit
 * takes at most six bytes in a log, so a value of up to some 32 million units fits into one line.
 */
export function jsonChars(value: unknown): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 24
  let chars = 2
  if (Array.isArray(value)) for (const item of value) chars += jsonChars(item) + 1
  else for (const name in value) chars += name.length + jsonChars((value as Record<string, unknown>)[name]) + 4
  return chars
}
