import { basename, dirname } from 'node:path'
import { fileStore } from '../../../stores/src/fileStore.ts'
import { type LogRepair, repairLog } from '../../../stores/src/repairLog.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { restoreTime } from '../../../waking/src/restoreTime.ts'
import type { CommandRun } from '../command.ts'
import { exitCodes } from '../cliHost.ts'
import { counted } from '../../../charts/src/amounts.ts'

function report(file: string, { kept, cutBytes, backup }: LogRepair): string {
  if (backup === null) return `${file} is whole: ${counted(kept, 'record')}; nothing was changed.\n`
  return (
    `${file} was repaired: ${counted(kept, 'record')} kept, ${counted(cutBytes, 'byte')} cut off from the first bad line on.\n` +
    `The damaged file is kept as ${backup}.\n`
  )
}

/** Rewrites the wake time of a log's agent beside the log, and returns it; `null` if there is none. */
async function timeOf(file: string): Promise<number | null> {
  const store = fileStore(dirname(file))
  try {
    return await restoreTime(store, basename(file, '.jsonl'))
  } catch (thrown) {
    // The log is repaired even so. Whoever opens the agent writes its time.
    if (thrown instanceof RuntimeError) return null
    throw thrown
  } finally {
    await store.close()
  }
}

/** `escapement repair <file>`: cuts a damaged log off at its first bad line, and keeps a copy. Exits with 0 if the log is intact afterwards. */
export const repairCommand: CommandRun = async ({ task: file = '', json }, { stdout }) => {
  const repair = await repairLog(file)
  const due = await timeOf(file)
  const next = due === null ? {} : { due }
  const words = due === null ? '' : `Its agent is due at ${new Date(due).toISOString()}.\n`
  stdout.write(json ? `${JSON.stringify({ file, ...repair, ...next })}\n` : report(file, repair) + words)
  return exitCodes.done
}
