import { isTextual } from '../../protocol/text/fileText.ts'
import { mediaText, type MediaBlock, type PlainBlock } from '../../protocol/messages.ts'
import { isHeif, isPdf, pictureBytes } from '../../protocol/text/pictureBytes.ts'
import { isBase64 } from '../../protocol/text/saidContent.ts'

/** The most base64 of one image, in characters: Anthropic measures that, and not the bytes. */
const maxImageChars = 5 * 1024 * 1024

/** The most base64 of one file, in characters: no request to Anthropic may be larger. */
const maxFileChars = 32 * 1024 * 1024

/** The longest side of an image in pixels that every provider takes. */
const maxSide = 8_000

/**
 * An image or a file as it is sent: one that providers refuse, and with it each request that it is in, is a line of text that says why;
 * one of another type than it says has its own. The same block when nothing is wrong with it. Pure.
 */
export function sentMedia(block: MediaBlock): PlainBlock {
  const sent = block.type === 'file' ? wrongInFile(block) : readImage(block)
  if (sent === undefined) return block
  if (typeof sent === 'object') return sent
  return { type: 'text', text: `[${mediaText(block).slice(1, -1)}: left out, as ${sent}]` }
}

type DataOf<B> = Extract<B, { readonly data: string }>

/** The image with its own type, why it is left out, or `undefined` when it is sent as it is. */
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
