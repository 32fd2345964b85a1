import { RuntimeError } from '../../../src/protocol/errors.ts'
import { isNestedDeeper } from '../../../src/protocol/checks/nesting.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { readValue } from '../../../src/protocol/upgradeRecord.ts'
import { checksumOf } from './checksum.ts'

/** Place of a line, for error messages. Lines count from 1. */
export interface LinePlace {
  readonly file: string
  readonly line: number
}

/** Returns the error for a line that is not the expected record. */
export const corruptLine = ({ file, line }: LinePlace, why: string): RuntimeError =>
  new RuntimeError('LOG_CORRUPT', `Line ${line} of ${file} is not a record: ${why.replace(/[.]?$/, '.')}`)

/** Errors about lines whose checksum is right. */
const ofWholeLines = new WeakSet<RuntimeError>()

/** Returns true if a line with this error was written as it is: its checksum is right, so no write of it was interrupted. */
export const isOfWholeLine = (error: RuntimeError): boolean => ofWholeLines.has(error)

/** Nesting deeper than any record: values from tools and models are limited before (`cloneJson`), and JSON.stringify has its own limit. */
const deepest = 1_000

/**
 * Returns true if the last field of a line is unknown and shaped like a checksum, so that its name or value was damaged. `upgraded`: ignores fields
 * that an upgrade removed.
 */
function hasDamagedChecksum(
  line: object,
  { record, upgraded }: { readonly record: LogRecord; readonly upgraded: object },
): boolean {
  const name = Object.keys(line).at(-1)
  if (name === undefined || name in record || !(name in upgraded)) return false
  const last: unknown = Reflect.get(line, name)
  return typeof last === 'string' && last.length <= 8
}

const brace = 0x7b
const carriageReturn = 0x0d
const byteOrderMark = Buffer.from('\uFEFF')

/** Returns a line without the byte order mark and carriage return that editors add. Pure. */
function bare(line: Buffer): Buffer {
  const end = line.at(-1) === carriageReturn ? line.length - 1 : line.length
  const isMarked = line[0] !== brace && line.subarray(0, byteOrderMark.length).equals(byteOrderMark)
  return line.subarray(isMarked ? byteOrderMark.length : 0, end)
}

/** Returns true if a line is blank, so no record was lost with it. Pure. */
export const isBlankLine = (line: Buffer): boolean => line[0] !== brace && line.toString().trim() === ''

/**
 * Reads one line of a log, without its newline, and verifies its checksum if it has one. A record of an older format is upgraded. Returns the error
 * (`LOG_CORRUPT`, or `LOG_VERSION` for a record of a newer format) instead of throwing it, because a bad last line is expected and only the caller
 * knows which line is the last. The bytes are reused.
 */
export function readRecord(given: string | Buffer, place: LinePlace): LogRecord | RuntimeError {
  const line = typeof given === 'string' ? given : bare(given)
  const sum = checksumOf(line)
  if (sum !== undefined && sum.seen !== sum.expected)
    return corruptLine(place, `its checksum is wrong (expected ${sum.expected}, seen ${sum.seen})`)
  const unfit = (why: string): RuntimeError => {
    const error = corruptLine(place, why)
    if (sum !== undefined) ofWholeLines.add(error)
    return error
  }
  const text = (sum?.json ?? line).toString()
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return corruptLine(place, text.trim() === '' ? 'it is blank' : 'it is not JSON')
  }
  // A level takes two characters, so short lines need no look.
  if (text.length > 2 * deepest && isNestedDeeper(parsed, deepest)) return unfit('it is nested too deeply')
  const read = readValue(parsed)
  if ('code' in read)
    return read.code === 'LOG_VERSION'
      ? new RuntimeError('LOG_VERSION', `Line ${place.line} of ${place.file} ${read.why}`)
      : unfit(read.why)
  return sum === undefined && hasDamagedChecksum(parsed as object, read)
    ? corruptLine(place, 'its checksum is damaged')
    : read.record
}
