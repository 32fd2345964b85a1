import { readFileSync, writeSync } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { recordsBetween } from '../../evaluation/src/testing/contractDemands.ts'
import { LogFile, type LogFileHandle } from '../src/logFile.ts'
import { syncPolicy } from '../src/syncPolicy.ts'
import type { CaseContext } from '../../../test/support/suite.ts'
import { linesOf, storeFolder } from './storeFolder.ts'

/** A real file on a disk that is full, slow or broken when told so. */
export interface Disk {
  readonly log: LogFile
  content(): Promise<string>
  /** Content of the file now. */
  contentNow(): string
  /** Bytes the disk still takes; a write beyond takes what fits, the next one fails. */
  space: number
  /** The most bytes one write takes. */
  bite: number
  truncates: boolean
  /** Milliseconds that writing at once takes. */
  slowness: number
  /** Writes made at once, of `writes`. */
  writesAtOnce: number
  /** How many of the next writes fail. */
  failures: number
  writes: number
  /** Makes the next write wait until the returned function is called. */
  hold(): () => void
}

/** Opens a log on one. `atOnce`: what is written at once where it may be; else everything is written in the background. */
export async function openDisk(context: CaseContext, { atOnce = false } = {}): Promise<Disk> {
  const folder = await storeFolder(context)
  const path = folder.file('a.jsonl')
  const handle = await open(path, 'w+')
  context.cleanup(() => handle.close())
  let held: Promise<void> | undefined
  let now = 0
  /** Bytes that the disk takes of so many. */
  const takes = (length: number): number => {
    if (disk.failures > 0) {
      disk.failures -= 1
      throw Object.assign(new Error('EIO: i/o error, write'), { code: 'EIO' })
    }
    if (disk.space === 0) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
    const taken = Math.min(length, disk.space, disk.bite)
    disk.space -= taken
    return taken
  }
  const faulty = {
    async write(bytes: Buffer, offset: number, length: number, position: number) {
      disk.writes += 1
      const holding = held
      held = undefined
      await holding
      return handle.write(bytes, offset, takes(length), position)
    },
    ...(atOnce && {
      writeSync(bytes: Buffer, offset: number, length: number, position: number) {
        disk.writes += 1
        disk.writesAtOnce += 1
        now += disk.slowness
        return writeSync(handle.fd, bytes, offset, takes(length), position)
      },
    }),
    async truncate(size: number) {
      if (!disk.truncates) throw Object.assign(new Error('EIO: i/o error, ftruncate'), { code: 'EIO' })
      await handle.truncate(size)
    },
    read: handle.read.bind(handle),
    datasync: async () => {},
    close: async () => {},
  }
  const policy = syncPolicy({ clock: { now: () => now, after: () => () => {} } })
  const disk: Disk = {
    log: new LogFile('a', faulty as unknown as LogFileHandle, { size: 0, lastSeq: 0 }, policy),
    content: () => readFile(path, 'utf8'),
    contentNow: () => readFileSync(path, 'utf8'),
    space: Infinity,
    bite: Infinity,
    truncates: true,
    slowness: 0,
    failures: 0,
    writes: 0,
    writesAtOnce: 0,
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return resolve
    },
  }
  return disk
}

/** Bytes of these records in a log. */
export const bytesOf = (from: number, to: number): number => Buffer.byteLength(linesOf(recordsBetween(from, to)))
