import { wrongInImage } from './imageBlock.ts'

const shape = 'give a text, or a list of { type: "text", text } and { type: "image", data, mimeType }'

/** What is wrong with something that was to be said to an agent, and what it should be. */
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
