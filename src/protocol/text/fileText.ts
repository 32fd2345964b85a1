import { fromBase64 } from './fromBase64.ts'
import type { FileBlock } from '../messages.ts'

const textual =
  /^text\/|^application\/(?:[\w.-]+\+)?(?:json|xml|yaml|toml|csv|javascript|x-yaml|x-sh|sql)\b|^image\/svg\+xml\b/i

export const isTextual = (mimeType: string): boolean => textual.test(mimeType)

/** Returns the text of a file with a text type; `undefined` for other types and for bytes that are not UTF-8. */
export function fileText({ data, mimeType }: Pick<FileBlock, 'data' | 'mimeType'>): string | undefined {
  if (!isTextual(mimeType)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(fromBase64(data))
  } catch {
    return undefined
  }
}
