import { type FileHandle, open } from 'node:fs/promises'
import { messageOf, RuntimeError, hasCode } from '../../../src/protocol/errors.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { seqFrom } from './rules/appendChecks.ts'
import { lastNewline, maxLineBytes, offsetFromEnd, readBytes, readLines } from './jsonLines.ts'
import { corruptLine, isBlankLine, isOfWholeLine, type LinePlace, readRecord } from './readRecord.ts'

/** Part of a log to read: from record `fromSeq` on (below 0 counts from the end), up to byte `end`, and at most `limit` records. */
export interface LogRange {
  readonly fromSeq: number
  readonly end: number
  readonly limit?: number
  /** The record that ends at byte `end`, if known. The last records are then found from there. */
  readonly lastSeq?: number | undefined
  /** Called with the line number of each record, from 1. It differs from the seq if there are blank lines. */
  onLine?(line: number): void
}

const tooLong = (place: LinePlace): RuntimeError => corruptLine(place, `it is longer than ${maxLineBytes} bytes`)

/**
 * Streams the records of a log file; a missing file has none. Line n holds seq n unless lines are blank, so the lines before `fromSeq` are
 * skipped unread. A torn tail is ignored: the unfinished line and, if the last finished line is not JSON or its checksum is wrong, that one.
 *
 * @throws RuntimeError `LOG_CORRUPT` at a line before the tail that is not a record, is out of sequence or longer than
 * `maxLineBytes` (256 MiB), `LOG_VERSION`, `STORE_READ_FAILED`.
 */
export async function* readLog(
  file: string,
  { fromSeq: wanted, end: most, limit = Infinity, lastSeq: known, onLine }: LogRange,
): AsyncGenerator<LogRecord, void, undefined> {
  let handle: FileHandle | undefined
  let left = limit
  if (left <= 0) return
  try {
    handle = await open(file, 'r')
    const { end, lastSeq } =
      wanted < 0 && known === undefined ? await endOf(handle, file) : { end: most, lastSeq: known }
    const fromSeq = seqFrom(wanted, lastSeq ?? 0)
    const skip = Math.max(0, fromSeq - 1)
    const last = lastSeq === undefined ? Infinity : lastSeq - skip
    const short = last < skip ? { start: await offsetFromEnd(handle, end, Math.max(0, last)), skip: 0 } : { skip }
    let isWhole = skip === 0
    for (;;) {
      let line = isWhole ? 0 : skip
      let seq = line
      let isShifted = false
      let bad: RuntimeError | undefined
      lines: for await (const lines of readLines(handle, { end, ...(isWhole ? { skip: 0 } : short) })) {
        for (const bytes of lines) {
          line += 1
          const isFirst = !isWhole && seq === skip
          if (bytes !== undefined && isBlankLine(bytes)) {
            isShifted = isFirst
            if (isShifted) break lines
            continue
          }
          if (bad !== undefined) throw bad
          const place = { file, line }
          const record = bytes === undefined ? tooLong(place) : readRecord(bytes, place)
          if (record instanceof RuntimeError) {
            if (record.code !== 'LOG_CORRUPT' || isOfWholeLine(record)) throw record
            bad = record
            continue
          }
          isShifted = isFirst && record.seq !== seq + 1
          if (isShifted) break lines
          seq += 1
          if (record.seq !== seq) throw corruptLine(place, `its seq is ${record.seq}, not ${seq}`)
          onLine?.(line)
          if (seq < fromSeq) continue
          yield record
          left -= 1
          if (left === 0) return
        }
      }
      // Blank lines moved the others: they are counted from the first one on.
      if (!isShifted) return
      isWhole = true
    }
  } catch (thrown) {
    if (handle === undefined && hasCode(thrown, 'ENOENT')) return
    if (thrown instanceof RuntimeError) throw thrown
    throw new RuntimeError('STORE_READ_FAILED', `${file} could not be read: ${messageOf(thrown)}.`, { cause: thrown })
  } finally {
    await handle?.close()
  }
}

async function endOf(handle: FileHandle, file: string): Promise<Pick<LogRange, 'end' | 'lastSeq'>> {
  const { size, lastSeq } = await findLogEnd(handle, file, (await handle.stat()).size)
  return { end: size, lastSeq }
}

/** The intact part of a log: its size and its last record. */
export interface LogEnd {
  readonly size: number
  readonly lastSeq: number
}

/** Beginnings of logs, as this version and those before write them. */
const beginnings = ['{"v":', '{"type":"agent.created"', '{"type":"host.created"']

/** Returns true for a file that is blank, or may be a first record whose write was interrupted. */
async function isTornFirst(handle: Pick<FileHandle, 'read'>, fileSize: number): Promise<boolean> {
  const bytes = await readBytes(handle, 0, Math.min(fileSize, 4_096))
  // A space that was never filled has zeros.
  const text = bytes
    .toString()
    .replace(/^[\s\0\uFEFF]+/u, '')
    .replace(/\0.*$/su, '')
  return beginnings.some((beginning) => text.startsWith(beginning) || beginning.startsWith(text))
}

/**
 * Finds the end of the intact part by reading only the last lines. Bytes after `size` are a torn tail, which `readLog` ignores.
 * @throws RuntimeError `LOG_CORRUPT` if more than the tail is damaged or the file is no log, `LOG_VERSION`
 */
export async function findLogEnd(handle: Pick<FileHandle, 'read'>, file: string, fileSize: number): Promise<LogEnd> {
  let end = (await lastNewline(handle, fileSize)) + 1
  for (let tries = 0; tries < 2;) {
    if (end === 0) {
      if (await isTornFirst(handle, fileSize)) return { size: 0, lastSeq: 0 }
      throw corruptLine({ file, line: 1 }, 'it does not begin as a record')
    }
    const start = (await lastNewline(handle, end - 1)) + 1
    const place = { file, line: 0 }
    const bytes = end - 1 - start > maxLineBytes ? undefined : await readBytes(handle, start, end - 1)
    if (bytes !== undefined && isBlankLine(bytes)) {
      end = start
      continue
    }
    tries += 1
    const record = bytes === undefined ? tooLong(place) : readRecord(bytes, place)
    if (!(record instanceof RuntimeError)) return { size: end, lastSeq: record.seq }
    if (record.code === 'LOG_VERSION' || isOfWholeLine(record)) break
    end = start
  }
  // The number of the bad line takes reading the whole file.
  for await (const _ of readLog(file, { fromSeq: 1, end: fileSize }));
  throw new RuntimeError('LOG_CORRUPT', `The end of ${file} changed while it was read.`)
}
