import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { toCrlf, unifyLineEndings } from './lineEndings.ts'
import { looksBinary, placeOf } from '../../../../src/actors/files/openRegularFile.ts'

const readFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
/** Bytes at the beginning of a file that show how its lines end. */
const shown = 64 * 1024
const byteOrderMark = '\uFEFF'

interface Kept {
  readonly content: string
  /** Sentence about the line endings and mark that were kept, to follow the report of the change; empty if none were. */
  readonly note: string
}

/**
 * The content that is to replace a file, with the line endings and the byte order mark of the file, which a model does not see: unless it
 * has some of its own. A file that is not there, or cannot be read, has none.
 */
export async function asBefore(real: string, content: string): Promise<Kept> {
  const before = await beginning(real).catch(() => '')
  const isCrlf = !content.includes('\r\n') && content.includes('\n') && unifyLineEndings(before).usesCrlf
  const isMarked = before.startsWith(byteOrderMark) && !content.startsWith(byteOrderMark)
  const kept = [...(isCrlf ? ['line endings (CRLF)'] : []), ...(isMarked ? ['byte order mark'] : [])]
  return {
    content: `${isMarked ? byteOrderMark : ''}${isCrlf ? toCrlf(content) : content}`,
    note: kept.length === 0 ? '' : ` Its ${kept.join(' and ')} ${isCrlf ? 'were' : 'was'} kept.`,
  }
}

async function beginning(real: string): Promise<string> {
  const handle = await open(real, readFlags)
  try {
    if (!(await handle.stat()).isFile() || (await placeOf(handle, real)) !== real) return ''
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(shown), 0, shown, 0)
    const bytes = buffer.subarray(0, bytesRead)
    // A mark is taken for a text: only a decoder that is told so leaves it in.
    return looksBinary(bytes) ? '' : new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  } finally {
    await handle.close()
  }
}
