import type { CommandRun } from '../command.ts'
import { chooseModel } from '../models/chooseModel.ts'
import { openSession } from '../openSession.ts'
import { codeOf, runTask } from '../runTask.ts'

/** `escapement run "<task>"`: one task in a folder, to its end. */
export const runCommand: CommandRun = async ({ task = '', dir = '.', model, json, yes }, host) => {
  const choice = await chooseModel({ asked: model, env: host.env, dir: host.cwd(), wordDelayMs: 0 })
  if (choice.notice !== undefined) host.stderr.write(`${choice.notice}\n`)
  const session = await openSession({ dir, choice, needsApproval: () => !yes })
  try {
    return codeOf(await runTask(session, task, { host, json, isPriced: choice.isEmbedded }))
  } finally {
    await session.close()
  }
}
