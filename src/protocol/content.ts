import { z } from 'zod'
import { plainBlockSchema } from './messages.ts'

const dataUrl = /^data:([^;,]+)(?:;[^;,]+)*;base64,/i

/** Longest text of one message, in UTF-16 units, and the most base64 of its images. */
export const maxContentChars = 32 * 1024 * 1024

const measured = (blocks: readonly z.infer<typeof plainBlockSchema>[]): number =>
  blocks.reduce((sum, block) => sum + (block.type === 'text' ? block.text.length : block.data.length), 0)

const saidBlockSchema = plainBlockSchema
  .refine((block) => block.type === 'text' || wrongInImage(block.data) === undefined, {
    error: ({ input }) => wrongInImage((input as { readonly data?: unknown }).data) ?? '',
  })
  .transform((block) => (block.type === 'text' ? block : imageBlock(block.data, block.mimeType)))

/** A message to an agent: a string, or blocks of text and images; not blank, and not larger than `maxContentChars`. */
export const contentSchema = z
  .union([z.string().transform((text) => [{ type: 'text' as const, text }]), z.array(saidBlockSchema)], {
    error: ({ input }) => wrongInContent(input),
  })
  .refine((blocks) => blocks.some((block) => (block.type === 'image' ? block.data !== '' : block.text.trim() !== '')), {
    message: 'the content is empty: give some text or an image',
  })
  .refine((blocks) => measured(blocks) <= maxContentChars, {
    message: `the content is larger than ${maxContentChars} characters: pass a file path and a tool that reads it`,
  })
  .transform((blocks) => blocks.filter((block) => (block.type === 'image' ? block.data !== '' : block.text !== '')))
export type Content = z.input<typeof contentSchema>

/** An image block of base64, or of a data URL with base64 in it, whose own type is the one that counts. */
export function imageBlock(data: string, mimeType: string): { type: 'image'; data: string; mimeType: string } {
  // A long text is not searched: a data URL begins with its type.
  const [head, type] = dataUrl.exec(data.slice(0, 200)) ?? []
  if (head === undefined || type === undefined) return { type: 'image', data, mimeType }
  return { type: 'image', data: data.slice(head.length), mimeType: type.toLowerCase() }
}

/** What is wrong with the data of an image, in words for its sender; `undefined` if it may be base64. */
export function wrongInImage(data: unknown): string | undefined {
  const fromBytes = "Buffer.from(bytes).toString('base64')"
  if (data instanceof Uint8Array || data instanceof ArrayBuffer) return `its data is bytes: give base64, ${fromBytes}`
  if (typeof data !== 'string') return `its data is ${data === null ? 'null' : typeof data}: give base64`
  if (/^[a-z][a-z0-9+.-]*:/i.test(data.slice(0, 40)) && !dataUrl.test(data.slice(0, 200)))
    return `its data is an address, ${JSON.stringify(data.slice(0, 40))}: give base64, ${fromBytes}, or a data URL of it`
  return undefined
}

const shape = 'give a text, or a list of { type: "text", text } and { type: "image", data, mimeType }'

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
  const { type, text, data, mimeType } = block as { readonly [field: string]: unknown }
  if (type === 'text') return typeof text === 'string' ? undefined : `its text is ${kindOf(text)}`
  if (type !== 'image') return `its type is ${JSON.stringify(type)}: ${shape}`
  if (typeof mimeType !== 'string') return `its mimeType is ${kindOf(mimeType)}: give one like "image/png"`
  return wrongInImage(data)
}

const kindOf = (value: unknown): string =>
  value === null
    ? 'null'
    : Array.isArray(value)
      ? 'a list'
      : value === undefined
        ? 'missing'
        : `of type ${typeof value}`
