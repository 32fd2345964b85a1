import { RuntimeError } from '../../protocol/errors.ts'
import { isNestedDeeper } from '../../protocol/checks/nesting.ts'
import type { LogRecord } from '../../protocol/records.ts'
import { readValue } from '../../protocol/upgradeRecord.ts'
import { checksumOf } from './checksum.ts'

/** Where a line stands, for the message of an error; lines count from 1. */
export interface LinePlace {
  readonly file: string
  readonly line: number
}

/** The error of a line that is not what a log has there. */
export const corruptLine = ({ file, line }: LinePlace, why: string): RuntimeError =>
  new RuntimeError('LOG_CORRUPT', `Line ${line} of ${file} is not a record: ${why.replace(/[.]?$/, '.')}`)

/** More levels than any record has: values from tools and models are cut off before (`cloneJson`), and JSON.stringify has its own limit. */
const deepest = 1_000

/**
 * Returns true if the last field of a line is one no record has, shaped like a checksum: then its name or value is what was damaged.
 * `upgraded`: fields that an upgrade took away had a meaning.
 */
function hasDamagedChecksum(
  line: object,
  { record, upgraded }: { readonly record: LogRecord; readonly upgraded: object },
): boolean {
  const [name, last] = Object.entries(line).at(-1) ?? []
  const isUnknown = name !== undefined && name in upgraded && !(name in record)
  return isUnknown && typeof last === 'string' && last.length <= 8
}

const brace = 0x7b
const carriageReturn = 0x0d
const byteOrderMark = Buffer.from('\uFEFF')

/** A line without what an editor or a copy put around it: a byte order mark before, a carriage return after it. Pure. */
function bare(line: Buffer): Buffer {
  const end = line.at(-1) === carriageReturn ? line.length - 1 : line.length
  const isMarked = line[0] !== brace && line.subarray(0, byteOrderMark.length).equals(byteOrderMark)
  return line.subarray(isMarked ? byteOrderMark.length : 0, end)
}

/** Returns true if a line has nothing: no record was lost with it. Pure. */
export const isBlankLine = (line: Buffer): boolean => line[0] !== brace && line.toString().trim() === ''

/**
 * Reads one line of a log, without its newline, and holds it against its checksum when it has one; a record of an older format
 * is brought to this one. Returns the error (`LOG_CORRUPT`, or `LOG_VERSION` for a record of a newer format) instead of
 * throwing it, because a bad last line is expected: the caller knows which line is the last. Bytes are used up by it.
 */
export function readRecord(given: string | Buffer, place: LinePlace): LogRecord | RuntimeError {
  const line = typeof given === 'string' ? given : bare(given)
  const sum = checksumOf(line)
  if (sum !== undefined && sum.seen !== sum.expected)
    return corruptLine(place, `its checksum is wrong (expected ${sum.expected}, seen ${sum.seen})`)
  const text = (sum?.json ?? line).toString()
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return corruptLine(place, text.trim() === '' ? 'it is blank' : 'it is not JSON')
  }
  // A level takes two characters, so short lines need no look.
  if (text.length > 2 * deepest && isNestedDeeper(parsed, deepest)) return corruptLine(place, 'it is nested too deeply')
  const read = readValue(parsed)
  if ('code' in read)
    return read.code === 'LOG_VERSION'
      ? new RuntimeError('LOG_VERSION', `Line ${place.line} of ${place.file} ${read.why}`)
      : corruptLine(place, read.why)
  return sum === undefined && hasDamagedChecksum(parsed as object, read)
    ? corruptLine(place, 'its checksum is damaged')
    : read.record
}
