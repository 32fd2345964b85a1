import { fstatSync, writeSync } from 'node:fs'
import { constants, type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { LogFile, type LogFileHandle } from './logFile.ts'
import type { WriteSync } from './quickWrites.ts'
import { findLogEnd } from './readLog.ts'
import { syncFolder } from './syncFolder.ts'
import type { SyncPolicy } from './syncPolicy.ts'

const quickHandle = (handle: FileHandle): LogFileHandle =>
  Object.assign(handle, {
    writeSync: (...[bytes, offset, length, position]: Parameters<WriteSync>) =>
      writeSync(handle.fd, bytes, offset, length, position),
    isDeleted: () => fstatSync(handle.fd).nlink === 0,
  })

/** Opens a log for writing. Cuts off a torn end that its last writer left. */
export async function openLog(
  agentId: string,
  file: string,
  policy: SyncPolicy,
): Promise<{ log: LogFile; repairedBytes: number }> {
  const handle = await open(file, constants.O_RDWR | constants.O_CREAT)
  try {
    const { size } = await handle.stat()
    const end = await findLogEnd(handle, file, size)
    if (end.size < size) await handle.truncate(end.size)
    if (policy.durability !== 'os') {
      // `lastSeq` counts what a writer that made no syncs left behind, and the file may be new.
      await handle.datasync()
      await syncFolder(dirname(file))
    }
    return { log: new LogFile(agentId, quickHandle(handle), end, policy), repairedBytes: size - end.size }
  } catch (thrown) {
    await handle.close()
    throw thrown
  }
}
