import { fromBase64 } from './fromBase64.ts'

/** Facts read from the first bytes of an image. */
export interface PictureBytes {
  /** One of the four types that every provider accepts. */
  readonly type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'
  /** Longer side in pixels, if the decoded bytes contain it. */
  readonly side?: number
}

/** Number of base64 characters that are decoded. The size of a JPEG comes after its thumbnail. */
const headChars = 256 * 1024

/** Returns the type and size of an image from its first bytes; `undefined` if it has no type that every provider accepts. */
export function pictureBytes(base64: string): PictureBytes | undefined {
  const head = bytesAt(base64, 64)
  const [type, sideOf] = kinds.find(([, , begins]) => begins(head)) ?? []
  if (type === undefined || sideOf === undefined) return undefined
  const side = sideOf(type === 'image/jpeg' ? bytesAt(base64, headChars) : head)
  return side === undefined || Number.isNaN(side) ? { type } : { type, side }
}

/** Returns true for the first bytes of a HEIF container, which some providers accept. */
export const isHeif = (base64: string): boolean => textAt(bytesAt(base64, 64), 4, 'ftyp')

/** Returns true if the bytes begin a PDF. Readers look for its mark in the first 1,024 bytes. */
export const isPdf = (base64: string): boolean => String.fromCharCode(...bytesAt(base64, 1024 + 340)).includes('%PDF-')

function bytesAt(base64: string, chars: number): Uint8Array {
  try {
    return fromBase64(base64.slice(0, chars))
  } catch {
    return new Uint8Array(0)
  }
}

const textAt = (bytes: Uint8Array, at: number, text: string): boolean =>
  [...text].every((letter, index) => bytes[at + index] === letter.charCodeAt(0))

/** Returns a little-endian number of this many bytes. */
const little = (bytes: Uint8Array, at: number, size: number): number => {
  let value = 0
  for (let index = size - 1; index >= 0; index--) value = value * 256 + (bytes[at + index] ?? NaN)
  return value
}

const big = (bytes: Uint8Array, at: number, size: number): number => {
  let value = 0
  for (let index = 0; index < size; index++) value = value * 256 + (bytes[at + index] ?? NaN)
  return value
}

type Kind = readonly [PictureBytes['type'], (bytes: Uint8Array) => number | undefined, (head: Uint8Array) => boolean]

const kinds: readonly Kind[] = [
  [
    'image/png',
    (bytes) => Math.max(big(bytes, 16, 4), big(bytes, 20, 4)),
    (head) => textAt(head, 0, '\x89PNG\r\n\x1a\n'),
  ],
  ['image/jpeg', sideOfJpeg, (head) => textAt(head, 0, '\xff\xd8\xff')],
  ['image/gif', (bytes) => Math.max(little(bytes, 6, 2), little(bytes, 8, 2)), (head) => textAt(head, 0, 'GIF8')],
  ['image/webp', sideOfWebp, (head) => textAt(head, 0, 'RIFF') && textAt(head, 8, 'WEBP')],
]

/** Reads the size from the frame header, which follows segments with a length each. */
function sideOfJpeg(bytes: Uint8Array): number | undefined {
  for (let at = 2; at + 9 < bytes.length;) {
    const marker = bytes[at + 1]!
    if (bytes[at] !== 0xff) return undefined
    if (marker === 0xff) at += 1
    else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return Math.max(big(bytes, at + 5, 2), big(bytes, at + 7, 2))
    else at += 2 + big(bytes, at + 2, 2)
  }
  return undefined
}

function sideOfWebp(bytes: Uint8Array): number | undefined {
  if (textAt(bytes, 12, 'VP8X')) return 1 + Math.max(little(bytes, 24, 3), little(bytes, 27, 3))
  if (textAt(bytes, 12, 'VP8 ')) return Math.max(little(bytes, 26, 2) & 0x3fff, little(bytes, 28, 2) & 0x3fff)
  if (!textAt(bytes, 12, 'VP8L')) return undefined
  const bits = little(bytes, 21, 4)
  return 1 + Math.max(bits & 0x3fff, (bits >>> 14) & 0x3fff)
}
