import { crc32 } from 'node:zlib'

/** Length of what stands between a record's JSON and its closing brace: `,"crc":"` + 8 digits + `"`. */
const fieldLength = 17
const field = /^,"crc":"([0-9a-f]{8})"\}$/

const digits = (sum: number): string => sum.toString(16).padStart(8, '0')

/** A record's line of a log, without its newline: its JSON with the CRC-32 of that JSON as a last field, `crc`. */
export const lineOf = (json: string): string => `${json.slice(0, -1)},"crc":"${digits(crc32(json))}"}`

/** The checksum a line bears and the one its content has. */
export interface Checksum {
  readonly expected: string
  readonly seen: string
}

/** Both checksums of a line; `undefined` when it bears none, as in logs written before there were checksums. */
export function checksumOf(line: string): Checksum | undefined {
  const expected = field.exec(line.slice(-fieldLength - 1))?.[1]
  // The brace is added to the sum, not to the text: a copy of a long line would cost more than its checksum.
  return expected === undefined
    ? undefined
    : { expected, seen: digits(crc32('}', crc32(line.slice(0, -fieldLength - 1)))) }
}
