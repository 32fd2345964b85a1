import type { CommandRun } from '../command.ts'
import { openWork } from '../sessions/openWork.ts'
import { codeOf, runTask } from '../chat/runTask.ts'

/** `escapement run "<task>"`: works on one task in a folder to its end. */
export const runCommand: CommandRun = async (invocation, host) => {
  const { session, isPriced } = await openWork(invocation, host)
  const { task = '', json, yes } = invocation
  try {
    return codeOf(await runTask(session, task, { host, json, yes, isPriced }))
  } finally {
    await session.close()
  }
}
