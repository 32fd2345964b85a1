import { z } from 'zod'
import { textBlockSchema, type ImageBlock } from './messages.ts'
import { toBase64 } from './toBase64.ts'

const dataUrl = /^data:([^;,]+)(?:;[^;,]+)*;base64,/i

/** Longest text of one message, in UTF-16 units, and the most base64 of its images. */
export const maxContentChars = 32 * 1024 * 1024

/** Longest address of an image, in UTF-16 units. */
const maxUrlChars = 8 * 1024

/** An image as an application gives it: bytes or base64, or an address, which may be a data URL. */
export type SaidImage =
  | { readonly type: 'image'; readonly data: string | Uint8Array; readonly mimeType: string }
  | { readonly type: 'image'; readonly url: string; readonly mimeType?: string }

/** What a person or a tool says: text, or an image as an application gives it. */
export type SaidBlock = z.infer<typeof textBlockSchema> | SaidImage

const saidImageSchema = z
  .object({
    type: z.literal('image'),
    data: z
      .custom<string | Uint8Array>((value) => typeof value === 'string' || value instanceof Uint8Array)
      .meta({ type: 'string' })
      .exactOptional(),
    url: z.string().exactOptional(),
    mimeType: z.string().exactOptional(),
  })
  .refine((image) => wrongInImage(image) === undefined)
  .transform((image) => imageOf(image as SaidImage)) as unknown as z.ZodType<ImageBlock, SaidImage>

const saidBlockSchema = z.union([textBlockSchema, saidImageSchema])
type Kept = z.output<typeof saidBlockSchema>

const charsOf = (block: Kept): number =>
  block.type === 'text' ? block.text.length : 'url' in block ? block.url.length : block.data.length

const saysSomething = (block: Kept): boolean => (block.type === 'text' ? block.text.trim() !== '' : charsOf(block) > 0)

const measured = (blocks: readonly Kept[]): number => blocks.reduce((sum, block) => sum + charsOf(block), 0)

/** A message to an agent: a string, or blocks of text and images; not blank, and not larger than `maxContentChars`. */
export const contentSchema = z
  .union([z.string().transform((text) => [{ type: 'text' as const, text }]), z.array(saidBlockSchema)], {
    error: ({ input }) => wrongInContent(input),
  })
  .refine((blocks) => blocks.some(saysSomething), {
    message: 'the content is empty: give some text or an image',
  })
  .refine((blocks) => measured(blocks) <= maxContentChars, {
    message: `the content is larger than ${maxContentChars} characters: pass a file path and a tool that reads it`,
  })
  .transform((blocks) => blocks.filter((block) => charsOf(block) > 0))
export type Content = z.input<typeof contentSchema>

/** The same content as JSON can hold it: bytes become base64. What is no content is left as it is. */
export const withoutBytes = (content: Content): Content =>
  Array.isArray(content) ? content.map((block) => (isBytes(block) ? imageOf(block) : block)) : content

const isBytes = (block: Exclude<Content, string>[number]): block is SaidImage =>
  block?.type === 'image' && 'data' in block && block.data instanceof Uint8Array

/**
 * An image as it is kept: base64, or an address. A data URL becomes base64, and its own type is the one that counts.
 */
export function imageOf(image: SaidImage): ImageBlock {
  if ('url' in image && image.url !== undefined) {
    const { url, mimeType } = image
    if (dataUrl.test(url.slice(0, 200))) return base64Of(url, mimeType ?? '')
    return mimeType === undefined ? { type: 'image', url } : { type: 'image', url, mimeType }
  }
  const { data, mimeType } = image as Extract<SaidImage, { data: unknown }>
  return base64Of(typeof data === 'string' ? data : toBase64(data), mimeType)
}

function base64Of(data: string, mimeType: string): ImageBlock {
  // A long text is not searched: a data URL begins with its type.
  const [head, type] = dataUrl.exec(data.slice(0, 200)) ?? []
  if (head === undefined || type === undefined) return { type: 'image', data, mimeType }
  return { type: 'image', data: data.slice(head.length), mimeType: type.toLowerCase() }
}

interface Fields {
  readonly data?: unknown
  readonly url?: unknown
  readonly mimeType?: unknown
}

/** What is wrong with an image, in words for its sender; `undefined` if nothing is. */
export function wrongInImage({ data, url, mimeType }: Fields): string | undefined {
  if (data !== undefined && url !== undefined) return 'it has data and a url: give one of them'
  if (mimeType !== undefined && typeof mimeType !== 'string')
    return `its mimeType is ${kindOf(mimeType)}: give one like "image/png"`
  if (url !== undefined) return wrongInUrl(url)
  if (typeof mimeType !== 'string') return `its mimeType is ${kindOf(mimeType)}: give one like "image/png"`
  return wrongInData(data)
}

function wrongInData(data: unknown): string | undefined {
  if (data instanceof Uint8Array) return undefined
  if (data instanceof ArrayBuffer) return 'its data is an ArrayBuffer: give new Uint8Array(data)'
  if (typeof data !== 'string') return `its data is ${kindOf(data)}: give base64 or bytes, or a url`
  if (/^[a-z][a-z0-9+.-]*:/i.test(data.slice(0, 40)) && !dataUrl.test(data.slice(0, 200)))
    return `its data is an address, ${JSON.stringify(data.slice(0, 40))}: give it as url, or give base64 or a data URL of it`
  return undefined
}

function wrongInUrl(url: unknown): string | undefined {
  if (typeof url !== 'string') return `its url is ${kindOf(url)}: give a text`
  if (/^data:/i.test(url))
    return dataUrl.test(url.slice(0, 200)) ? undefined : 'its url is a data URL without base64: give one with base64'
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
  'give a text, or a list of { type: "text", text }, { type: "image", data, mimeType } and { type: "image", url }'

/** What is wrong with content that was meant for an agent, and what it should be. */
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
  const { type, text, ...image } = block as { readonly [field: string]: unknown }
  if (type === 'text') return typeof text === 'string' ? undefined : `its text is ${kindOf(text)}`
  return type === 'image' ? wrongInImage(image) : `its type is ${JSON.stringify(type)}: ${shape}`
}

const kindOf = (value: unknown): string =>
  value === null
    ? 'null'
    : Array.isArray(value)
      ? 'a list'
      : value === undefined
        ? 'missing'
        : `of type ${typeof value}`
