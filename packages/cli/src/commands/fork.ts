import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { forkSession } from '../../../sessions/src/forkSession.ts'
import type { CommandRun } from '../command.ts'
import { exitCodes } from '../cliHost.ts'
import { ownSession } from '../config/ownSession.ts'
import { readSession } from '../sessions/readSession.ts'
import { howToResume, logsFor, wantsJson } from '../sessions/sessionLogs.ts'
import { oneLine } from '../../../charts/src/plainText.ts'

/** `escapement fork <id> --at n12`: creates a session that shares the past of another up to a node. */
export const forkCommand: CommandRun = async (invocation, host) => {
  const { task: source = '', at, id } = invocation
  if (at === undefined)
    throw new RuntimeError(
      'INVALID_OPTION',
      '"fork" needs --at <node>, like --at n12; "escapement show <id>" has them.',
    )
  const logs = await logsFor(invocation, host)
  const session = await readSession(logs, source)
  const { agentId } = await forkSession(logs.store, source, at, id === undefined ? {} : { id })
  const how =
    ownSession(session) === undefined
      ? `runtime.resume("${agentId}", <definition "${oneLine(session.definition)}">)`
      : howToResume(agentId, invocation)
  host.stdout.write(
    wantsJson(invocation, host) ? `${JSON.stringify({ agentId })}\n` : `${agentId}\nContinue it: ${how}\n`,
  )
  return exitCodes.done
}
