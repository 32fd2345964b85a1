import { toCrlf, unifyLineEndings } from './lineEndings.ts'
import { looksBinary } from '../files/openRegularFile.ts'

/** Bytes at the beginning of a file that show how its lines end. */
export const shownBytes = 64 * 1024
const byteOrderMark = '\uFEFF'

interface Kept {
  readonly content: string
  /** Sentence about the kept line endings and byte order mark, to follow the report of the change; empty if none were kept. */
  readonly note: string
}

/**
 * Returns new content for a file with the file's line endings and byte order mark, which a model does not
 * see, unless the content has its own. `beginning`: the first bytes of the file, empty for a new one. Pure.
 */
export function asBefore(beginning: Uint8Array, content: string): Kept {
  // A mark is taken for a text: only a decoder that is told so leaves it in.
  const before = looksBinary(beginning) ? '' : new TextDecoder('utf-8', { ignoreBOM: true }).decode(beginning)
  const isCrlf = !content.includes('\r\n') && content.includes('\n') && unifyLineEndings(before).usesCrlf
  const isMarked = before.startsWith(byteOrderMark) && !content.startsWith(byteOrderMark)
  const kept = [...(isCrlf ? ['line endings (CRLF)'] : []), ...(isMarked ? ['byte order mark'] : [])]
  return {
    content: `${isMarked ? byteOrderMark : ''}${isCrlf ? toCrlf(content) : content}`,
    note: kept.length === 0 ? '' : ` Its ${kept.join(' and ')} ${isCrlf ? 'were' : 'was'} kept.`,
  }
}
