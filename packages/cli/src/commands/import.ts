import { createReadStream } from 'node:fs'
import { messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { importSession } from '../../../sessions/src/importSession.ts'
import { type CliHost, exitCodes } from '../cliHost.ts'
import type { CommandRun } from '../command.ts'
import type { Invocation } from '../commandLine.ts'
import { recordFolder } from '../sessions/recordFolder.ts'
import { logsFor, wantsJson } from '../sessions/sessionLogs.ts'
import { storePlace, type StorePlace } from '../config/storePlace.ts'

/** `escapement import <file>`: imports an exported file, once all of it is validated. */
export const importCommand: CommandRun = async (invocation, host) => {
  const { task: file = '' } = invocation
  const place = await placeFor(invocation, host)
  const store = await place.open()
  const { agentIds, missing = [] } = await importInto(store, textOf(file, host))
  // Only now, so that a rejected file leaves no folder behind.
  if (invocation.logs === undefined && place.folder !== undefined) recordFolder(place.folder)
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

async function importInto(store: Store, text: AsyncIterable<string>): ReturnType<typeof importSession> {
  try {
    return await importSession(store, text)
  } finally {
    await store.close()
  }
}

/** Returns the place to import into. A folder for `--logs` is created if missing; that of `--dir` must exist. */
const placeFor = async (invocation: Invocation, host: CliHost): Promise<StorePlace> =>
  invocation.logs === undefined ? (await logsFor(invocation, host)).place : storePlace(invocation.logs, '.')

async function* textOf(file: string, host: CliHost): AsyncGenerator<string, void, undefined> {
  const stream = file === '-' ? host.stdin.setEncoding('utf8') : createReadStream(file, { encoding: 'utf8' })
  try {
    for await (const piece of stream) yield String(piece)
  } catch (thrown) {
    throw new RuntimeError('STORE_READ_FAILED', `${file} could not be read: ${messageOf(thrown)}.`, { cause: thrown })
  }
}
