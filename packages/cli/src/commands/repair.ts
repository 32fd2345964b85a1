import { type LogRepair, repairLog } from '../../../../src/log/stores/repairLog.ts'
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

/** `escapement repair <file>`: cuts a damaged log off at its first bad line, with a copy kept. 0 when it is whole afterwards. */
export const repairCommand: CommandRun = async ({ task: file = '', json }, { stdout }) => {
  const repair = await repairLog(file)
  stdout.write(json ? `${JSON.stringify({ file, ...repair })}\n` : report(file, repair))
  return exitCodes.done
}
