import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import { messageOf, RuntimeError } from '../../protocol/errors.ts'
import { importSession } from '../../sessions/importSession.ts'
import { fileStore } from '../../stores/fileStore.ts'
import { type CliHost, exitCodes } from '../cliHost.ts'
import type { CommandRun } from '../command.ts'
import type { Invocation } from '../commandLine.ts'
import { recordFolder } from '../recordFolder.ts'
import { logsFor, wantsJson } from '../sessionLogs.ts'

/** `escapement import <file>`: imports what `export` wrote, once all of it is validated. */
export const importCommand: CommandRun = async (invocation, host) => {
  const { task: file = '' } = invocation
  const folder = await folderFor(invocation, host)
  const { agentIds, missing = [] } = await importSession(fileStore(folder), textOf(file, host))
  // Only now, so that a rejected file leaves no folder behind.
  if (invocation.logs === undefined) recordFolder(folder)
  const id = agentIds.at(-1) ?? ''
  const shared = agentIds.length === 1 ? '' : `, with what it was forked from: ${agentIds.slice(0, -1).join(', ')}`
  const lost = missing.length === 0 ? '' : `Not in the file, or too large to keep: ${missing.join(', ')}.\n`
  host.stdout.write(
    wantsJson(invocation, host)
      ? `${JSON.stringify({ agentIds, ...(missing.length === 0 ? {} : { missing }) })}\n`
      : `"${id}" is here now${shared}.\n${lost}Look at it: escapement show ${id}\n`,
  )
  return exitCodes.done
}

/** The target folder: that of `--logs` is created if missing, that of `--dir` must exist. */
const folderFor = async (invocation: Invocation, host: CliHost): Promise<string> =>
  invocation.logs === undefined ? (await logsFor(invocation, host)).folder : resolve(invocation.logs)

async function* textOf(file: string, host: CliHost): AsyncGenerator<string, void, undefined> {
  const stream = file === '-' ? host.stdin.setEncoding('utf8') : createReadStream(file, { encoding: 'utf8' })
  try {
    for await (const piece of stream) yield String(piece)
  } catch (thrown) {
    throw new RuntimeError('STORE_READ_FAILED', `${file} could not be read: ${messageOf(thrown)}.`, { cause: thrown })
  }
}
