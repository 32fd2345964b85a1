import { constants, copyFile, type FileHandle, open, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { messageOf, RuntimeError, hasCode, quoted } from '../../../src/protocol/errors.ts'
import { lockFile } from './lockFile.ts'
import { foreignFormat } from './foreignFormat.ts'
import { offsetOfLine, readBytes, readLines } from './jsonLines.ts'
import { readLog } from './readLog.ts'
import { readRecord } from './readRecord.ts'
import { syncAndClose, syncFolder } from './syncFolder.ts'

export interface LogRepair {
  /** Number of records in the log now. */
  readonly kept: number
  /** Number of bytes that were cut off; 0 if the log was intact. */
  readonly cutBytes: number
  /** A copy of the damaged file; `null` if nothing was cut. */
  readonly backup: string | null
}

const extension = '.jsonl'

/**
 * Cuts a log off at its first bad line, after copying the whole file beside it (`<file>.damaged-<n>`, on disk before the cut). An intact
 * log is left alone. The log's lock is held meanwhile.
 *
 * @throws RuntimeError `INVALID_OPTION` if the file is not called `*.jsonl`, `STORE_LOCKED` while a process is writing the log,
 * `FOREIGN_FORMAT` for a file without one record, and `LOG_VERSION` for a log written by a newer version, which are left alone,
 * `STORE_OPEN_FAILED`, `STORE_READ_FAILED`.
 */
export async function repairLog(file: string): Promise<LogRepair> {
  if (typeof file !== 'string' || !file.endsWith(extension))
    throw new RuntimeError('INVALID_OPTION', `${quoted(file)} is not a log: its name must end in ${extension}.`)
  const path = resolve(file)
  try {
    // Before locking, which would leave a lock file in an unrelated folder.
    if (!(await stat(path)).isFile()) throw new Error('it is not a file')
    const lock = await lockFile(`${path.slice(0, -extension.length)}.lock`)
    try {
      return await cutBadPart(path)
    } finally {
      await lock.release()
    }
  } catch (thrown) {
    if (thrown instanceof RuntimeError) throw thrown
    const what = `${path} could not be repaired: ${messageOf(thrown)}.`
    throw new RuntimeError('STORE_OPEN_FAILED', what, { cause: thrown })
  }
}

async function cutBadPart(path: string): Promise<LogRepair> {
  const handle = await open(path, 'r+')
  try {
    const { size } = await handle.stat()
    const { kept, lines } = await countGood(path, size)
    if (kept === 0 && size > 0 && !(await hasRecord(handle, path, size)))
      throw notALog(path, await readBytes(handle, 0, Math.min(size, mostLooked)))
    const goodSize = await offsetOfLine(handle, lines)
    if (goodSize === size || (await isBlank(handle, goodSize, size))) return { kept, cutBytes: 0, backup: null }
    const backup = await copyDamaged(path)
    await handle.truncate(goodSize)
    await handle.sync()
    return { kept, cutBytes: size - goodSize, backup }
  } finally {
    await handle.close()
  }
}

/** Counts the intact records and their lines. */
async function countGood(path: string, end: number): Promise<{ readonly kept: number; readonly lines: number }> {
  let kept = 0
  let lines = 0
  try {
    for await (const _ of readLog(path, { fromSeq: 1, end, onLine: (line) => (lines = line) })) kept += 1
  } catch (thrown) {
    if (!(thrown instanceof RuntimeError) || thrown.code !== 'LOG_CORRUPT') throw thrown
  }
  return { kept, lines }
}

/** Number of bytes that are examined to recognise a file. */
const mostLooked = 64 * 1024

async function hasRecord(handle: FileHandle, file: string, end: number): Promise<boolean> {
  for await (const lines of readLines(handle, { skip: 0, end }))
    for (const bytes of lines)
      if (bytes !== undefined && !(readRecord(bytes, { file, line: 0 }) instanceof RuntimeError)) return true
  return false
}

const isBlank = async (handle: FileHandle, start: number, end: number): Promise<boolean> =>
  end - start <= mostLooked && (await readBytes(handle, start, end)).toString().trim() === ''

/** Returns the error for a file that is not a log: cutting it off would leave nothing. */
function notALog(path: string, beginning: Buffer): RuntimeError {
  const format = foreignFormat(beginning.toString())
  const what = format === undefined ? '' : `: it looks like ${format}`
  return new RuntimeError('FOREIGN_FORMAT', `${path} has no record of a log${what}. Nothing was changed.`)
}

/** Copies to the first free name, and forces the copy to disk. */
async function copyDamaged(path: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const backup = `${path}.damaged-${number}`
    try {
      await copyFile(path, backup, constants.COPYFILE_EXCL)
    } catch (thrown) {
      if (hasCode(thrown, 'EEXIST')) continue
      throw thrown
    }
    await syncAndClose(await open(backup, 'r+'))
    await syncFolder(dirname(backup))
    return backup
  }
}
