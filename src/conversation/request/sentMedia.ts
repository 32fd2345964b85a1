import { isTextual } from '../../protocol/text/fileText.ts'
import { mediaText, type MediaBlock, type PlainBlock } from '../../protocol/messages.ts'
import { isHeif, isPdf, pictureBytes } from '../../protocol/text/pictureBytes.ts'
import { isBase64 } from '../../protocol/text/saidContent.ts'

/** Maximum base64 length of one image in characters. Anthropic measures this, not the bytes. */
const maxImageChars = 5 * 1024 * 1024

/** Maximum base64 length of one file in characters. No request to Anthropic may be larger. */
const maxFileChars = 32 * 1024 * 1024

/** Maximum side of an image in pixels that every provider accepts. */
const maxSide = 8_000

/**
 * Returns an image or a file as it is sent. One that providers refuse is replaced by a line of text with the reason. One with a wrong declared type
 * gets its real type. A valid block is returned unchanged. Pure.
 */
export function sentMedia(block: MediaBlock): PlainBlock {
  const sent = block.type === 'file' ? wrongInFile(block) : readImage(block)
  if (sent === undefined) return block
  if (typeof sent === 'object') return sent
  return { type: 'text', text: `[${mediaText(block).slice(1, -1)}: left out, as ${sent}]` }
}

type DataOf<B> = Extract<B, { readonly data: string }>

/** Returns the image with its real type, or the reason why it is left out, or `undefined` if it is sent unchanged. */
function readImage(image: Extract<MediaBlock, { type: 'image' }>): PlainBlock | string | undefined {
  if ('url' in image) return undefined
  const { data, mimeType } = image
  const wrong = wrongInData(data, maxImageChars)
  // An image that is text is for the adapter to models, which sends its text.
  if (wrong !== undefined || isTextual(mimeType)) return wrong
  const seen = pictureBytes(data)
  if (seen === undefined) {
    if (/^image\/hei[cf]\b/i.test(mimeType) && isHeif(data)) return undefined
    return 'its bytes are not those of a PNG, JPEG, GIF or WebP image'
  }
  if (seen.side !== undefined && seen.side > maxSide)
    return `a side of ${seen.side} pixels is longer than ${maxSide}, the most that providers take`
  return seen.type === mimeType ? undefined : { type: 'image', data, mimeType: seen.type }
}

function wrongInFile({ data, mimeType }: DataOf<MediaBlock>): string | undefined {
  const wrong = wrongInData(data, maxFileChars)
  if (wrong !== undefined) return wrong
  return /^application\/pdf\b/i.test(mimeType) && !isPdf(data) ? 'its bytes are not those of a PDF' : undefined
}

function wrongInData(data: string, maxChars: number): string | undefined {
  if (data === '') return 'it is empty'
  if (data.length > maxChars)
    return `it is ${data.length} bytes in base64, and providers take at most ${maxChars}: make it smaller`
  return isBase64(data) && data.length % 4 !== 1 ? undefined : 'its data is not base64'
}
