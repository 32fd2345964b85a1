import { once } from 'node:events'
import { open, rm } from 'node:fs/promises'
import { messageOf, RuntimeError } from '../../protocol/errors.ts'
import { exportSession } from '../../sessions/exportSession.ts'
import type { CommandRun } from '../command.ts'
import { exitCodes } from '../cliHost.ts'
import { checkSession, logsFor, wantsJson } from '../sessionLogs.ts'
import { counted } from '../../charts/amounts.ts'

/** `escapement export <id>`: a session as one file, with the past that a fork shares. */
export const exportCommand: CommandRun = async (invocation, host) => {
  const { task: id = '', out } = invocation
  const logs = await logsFor(invocation, host)
  await checkSession(logs, id)
  const lines = exportSession(logs.store, id)
  if (out === undefined) {
    for await (const line of lines) if (!host.stdout.write(line)) await once(host.stdout, 'drain')
    return exitCodes.done
  }
  const count = await writeNew(out, lines)
  const written = { agentId: id, file: out, lines: count }
  host.stdout.write(
    wantsJson(invocation, host) ? `${JSON.stringify(written)}\n` : `"${id}" is in ${out}: ${counted(count, 'line')}.\n`,
  )
  return exitCodes.done
}

/** Writes a new file; on failure leaves none behind. */
async function writeNew(file: string, lines: AsyncIterable<string>): Promise<number> {
  const failed = (thrown: unknown): RuntimeError =>
    new RuntimeError('INVALID_OPTION', `--out ${file} cannot be written: ${messageOf(thrown)}.`, { cause: thrown })
  const handle = await open(file, 'wx').catch((thrown: unknown) => {
    throw failed(thrown)
  })
  let count = 0
  try {
    for await (const line of lines) {
      await handle.writeFile(line).catch((thrown: unknown) => {
        throw failed(thrown)
      })
      count += 1
    }
    await handle.close()
    return count
  } catch (thrown) {
    await handle.close().catch(() => undefined)
    await rm(file, { force: true })
    throw thrown
  }
}
