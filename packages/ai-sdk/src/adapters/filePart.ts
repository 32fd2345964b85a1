import type { PlainBlock } from '../../../../src/protocol/messages.ts'

/** A file in a message part of the AI SDK. `data` is bytes, base64 or a URL, in the form of the version of the SDK. */
export interface FilePart {
  readonly data: unknown
  readonly mediaType?: string | undefined
  readonly filename?: string | undefined
}

/** Converts a file or an image of the AI SDK to a block; `undefined` for values that no block can hold, such as a provider's own reference. */
export function fileBlockOf({
  data,
  mediaType = 'application/octet-stream',
  filename,
}: FilePart): PlainBlock | undefined {
  const held = unwrapped(data)
  if (isText(held)) return { type: 'text', text: held.text }
  const isImage = /^image(?:\/|$)/.test(mediaType)
  const bytes = held instanceof ArrayBuffer ? new Uint8Array(held) : held
  const written = bytes instanceof Uint8Array ? Buffer.from(bytes).toString('base64') : bytes
  if (typeof written !== 'string' && !(written instanceof URL)) return undefined
  const said = String(written)
  if (/^https?:/i.test(said)) {
    if (isImage) return { type: 'image', url: said }
    return undefined
  }
  const mimeType = mediaType.includes('/') ? mediaType : `${mediaType}/*`
  if (isImage) return { type: 'image', data: said, mimeType }
  return { type: 'file', data: said, mimeType, ...(filename === undefined ? {} : { name: filename }) }
}

/** Unwraps the content of a file from the form of version 7. */
function unwrapped(data: unknown): unknown {
  const wrapped = (data ?? {}) as { readonly type?: unknown; readonly data?: unknown; readonly url?: unknown }
  return wrapped.type === 'data' ? wrapped.data : wrapped.type === 'url' ? wrapped.url : data
}

const isText = (held: unknown): held is { readonly text: string } =>
  typeof held === 'object' &&
  held !== null &&
  'type' in held &&
  held.type === 'text' &&
  'text' in held &&
  typeof held.text === 'string'
