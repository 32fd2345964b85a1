import type { PlainBlock } from '../../../../src/protocol/messages.ts'
import { fileBlockOf } from './filePart.ts'
import { isBlocks } from '../../../../src/actors/tools/isBlocks.ts'

interface Part {
  readonly type: string
  readonly text?: unknown
  readonly data?: unknown
  readonly url?: unknown
  readonly mediaType?: string | undefined
  readonly filename?: string | undefined
}

/** Result of `toModelOutput`, in any of its forms. */
interface ModelOutput {
  readonly type: string
  readonly value?: unknown
  readonly reason?: unknown
}

/** Returns the output of a tool that has no `toModelOutput` as the AI SDK shows it to a model: a text, or JSON. */
export const plainOutput = (output: unknown): unknown => (isBlocks(output) ? JSON.stringify(output) : output)

/**
 * Converts the result of `toModelOutput` into the return value of a tool.
 *
 * @throws Error for a result that is an error or a denial, which the model reads
 */
export function toolOutputOf(made: unknown): unknown {
  const { type, value, reason } = (made ?? {}) as Partial<ModelOutput>
  switch (type) {
    case 'text':
      return String(value)
    case 'json':
      return plainOutput(value)
    case 'content':
      return (Array.isArray(value) ? (value as Part[]) : []).map(blockOf)
    case 'error-text':
    case 'error-json':
      throw new Error(typeof value === 'string' ? value : JSON.stringify(value))
    case 'execution-denied':
      throw new Error(typeof reason === 'string' && reason !== '' ? reason : 'It was denied.')
    default:
      throw new Error(`Its toModelOutput gave an output of type ${JSON.stringify(type)}, which is none of the AI SDK.`)
  }
}

/** Converts parts of older versions, such as `image-data` and `file-url`, to the newest form. */
function blockOf({ type, text, data, url, mediaType, filename }: Part): PlainBlock {
  if (type === 'text') return { type, text: String(text) }
  const kind = mediaType ?? (type.startsWith('image') ? 'image' : undefined)
  const block = fileBlockOf({ data: data ?? url, mediaType: kind, filename })
  if (block !== undefined) return block
  const place = typeof url === 'string' ? `, ${url}` : ''
  return { type: 'text', text: `[a part of type ${type}${place}, which cannot be shown]` }
}
