import { crc32 } from 'node:zlib'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { maxLineBytes } from './jsonLines.ts'

/** Text before the checksum at the end of a record's JSON. 8 digits and a quote follow it. */
const startText = ',"crc":"'
const fieldStart = Buffer.from(startText)
const digitCount = 8
const fieldLength = fieldStart.length + digitCount + 1
const quote = 0x22
const brace = 0x7d

const hexPairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

// By table: formatting the number would cost as much as the sum of a short line.
const digits = (sum: number): string =>
  hexPairs[sum >>> 24]! + hexPairs[(sum >>> 16) & 255]! + hexPairs[(sum >>> 8) & 255]! + hexPairs[sum & 255]!

const maxJsonBytes = maxLineBytes - fieldLength

/** Returns true if a line is too long. UTF-8 takes one to three bytes per UTF-16 unit, so few texts need to be measured. */
const isTooLong = (json: string): boolean =>
  json.length > maxJsonBytes || (json.length > maxJsonBytes / 3 && Buffer.byteLength(json) > maxJsonBytes)

/**
 * Returns the log line of a record, without its newline: its JSON with the CRC-32 of that JSON as the last field, `crc`.
 * @throws RuntimeError `RECORD_TOO_LARGE` if it would be longer than `maxLineBytes`, because it could not be read back
 */
export function lineOf(json: string): string {
  if (isTooLong(json)) {
    const { length } = json
    throw new RuntimeError('RECORD_TOO_LARGE', `A record of ${length} characters is more than ${maxLineBytes} bytes.`)
  }
  return `${json.slice(0, -1)},"crc":"${digits(crc32(json))}"}`
}

/** Returns the value of a lower-case hexadecimal digit; -1 for any other byte. */
const digitValue = (byte: number): number =>
  byte >= 0x30 && byte <= 0x39 ? byte - 0x30 : byte >= 0x61 && byte <= 0x66 ? byte - 0x57 : -1

/** Returns the checksum from byte `at` to the end of a line; `undefined` if there is none. */
function borneSum(line: Buffer, at: number): number | undefined {
  if (at < 1 || line[line.length - 1] !== brace || line[line.length - 2] !== quote) return undefined
  for (let i = 0; i < fieldStart.length; i += 1) if (line[at + i] !== fieldStart[i]) return undefined
  let sum = 0
  for (let i = at + fieldStart.length; i < line.length - 2; i += 1) {
    const value = digitValue(line[i]!)
    if (value < 0) return undefined
    sum = sum * 16 + value
  }
  return sum
}

/** A line with a checksum. */
export interface Checksum {
  /** The checksum in the line. */
  readonly expected: string
  /** The computed checksum of its content. */
  readonly seen: string
  /** The bytes covered by the checksum: the record's JSON. */
  readonly json: Buffer
}

/**
 * Separates a line from its checksum; `undefined` for a line without one, as in older logs. The checksum covers the bytes in the file, not the
 * decoded text. The bytes are reused in place for `json`.
 */
export function checksumOf(line: string | Buffer): Checksum | undefined {
  // Records in databases have none, and are not copied to see that.
  if (typeof line === 'string' && !line.startsWith(startText, line.length - fieldLength - 1)) return undefined
  const bytes = typeof line === 'string' ? Buffer.from(line) : line
  const at = bytes.length - fieldLength - 1
  const borne = borneSum(bytes, at)
  if (borne === undefined) return undefined
  bytes[at] = brace
  const json = bytes.subarray(0, at + 1)
  const sum = crc32(json)
  const expected = digits(borne)
  return { expected, seen: sum === borne ? expected : digits(sum), json }
}
