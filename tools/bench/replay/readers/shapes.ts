import type { PlainBlock } from '../../../../src/index.ts'

/** An object of a foreign format, of which nothing is known. */
export type Json = { readonly [field: string]: unknown }

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const objectOf = (value: unknown): Json => (isObject(value) ? value : {})
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
export const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0)

/** Milliseconds of a time in words or numbers; `NaN` for anything else. */
export const timeOf = (value: unknown): number => (typeof value === 'number' ? value : Date.parse(textOf(value)))

export const text = (value: string): PlainBlock => ({ type: 'text', text: value })

/** The words of a message: its content, or the text of its parts, a line each. */
export const wordsOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : listOf(content)
        .map((part) => textOf(objectOf(part)['text']))
        .join('\n')

/** Converts a tool's return value of any type to a text. */
export const asText = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)

/** The arguments of a call: parsed if they are JSON in a string. */
export function argumentsOf(value: unknown): unknown {
  if (typeof value !== 'string') return value ?? {}
  try {
    return JSON.parse(value) as unknown
  } catch {
    return value
  }
}

const dataUrl = /^data:([^;,]+);base64,(.*)$/s

/** An image given as a `data:` URL; anything else is only named. */
export function imageOf(url: string, mimeType = 'image/png'): PlainBlock {
  const [, type, data] = dataUrl.exec(url) ?? []
  if (type !== undefined && data !== undefined) return { type: 'image', data, mimeType: type }
  return url.includes(':') ? text(`(an image: ${url.slice(0, 200)})`) : { type: 'image', data: url, mimeType }
}
