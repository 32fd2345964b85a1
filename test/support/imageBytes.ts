const bytes = (...parts: readonly (string | readonly number[])[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === 'string' ? [...part].map((c) => c.charCodeAt(0)) : part)))

const zeros = (count: number): number[] => Array.from({ length: count }, () => 0)
const big = (value: number, size: number): number[] =>
  Array.from({ length: size }, (_, index) => (value >>> (8 * (size - 1 - index))) & 255)
const little = (value: number, size: number): number[] => big(value, size).toReversed()

/** The first bytes of images of this size, as the four formats have them; the JPEG's frame comes after a long segment. */
export const imageBytes = {
  png: (width: number, height: number) =>
    bytes('\x89PNG\r\n\x1a\n', big(13, 4), 'IHDR', big(width, 4), big(height, 4), [8, 2, 0, 0, 0], zeros(4)),
  jpeg: (width: number, height: number) =>
    bytes(
      [0xff, 0xd8, 0xff, 0xe1],
      big(4_002, 2),
      zeros(4_000),
      [0xff, 0xff, 0xc0],
      big(17, 2),
      [8],
      big(height, 2),
      big(width, 2),
      zeros(12),
    ),
  gif: (width: number, height: number) => bytes('GIF89a', little(width, 2), little(height, 2), zeros(20)),
  webp: (width: number, height: number) =>
    bytes(
      'RIFF',
      little(100, 4),
      'WEBPVP8X',
      little(10, 4),
      zeros(4),
      little(width - 1, 3),
      little(height - 1, 3),
      zeros(20),
    ),
} as const

/** A small PNG in base64 that every check takes for one; `mark` makes it another. */
export const pngOf = (mark = ''): string => Buffer.concat([imageBytes.png(1, 1), Buffer.from(mark)]).toString('base64')
