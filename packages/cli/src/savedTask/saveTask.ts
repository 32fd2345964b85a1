import { tell } from '../terminal/wordWrap.ts'
import { statSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { savedTask } from '../../../sessions/src/savedTask.ts'
import { counted } from '../../../charts/src/amounts.ts'
import type { CliHost } from '../cliHost.ts'
import { exitCodes } from '../cliHost.ts'
import type { Invocation } from '../commandLine.ts'
import { ownSession } from '../config/ownSession.ts'
import { shellWord } from '../../../charts/src/text/shellWord.ts'
import { readSession } from '../sessions/readSession.ts'
import { refuse, wantsJson, type SessionLogs } from '../sessions/sessionLogs.ts'
import { filesBefore } from './filesBefore.ts'
import { filesToSave } from './filesToSave.ts'
import { blankedValue, withoutSecrets } from './withoutSecrets.ts'
import { workspaceFiles } from './workspaceFiles.ts'
import { writeTask } from './writeTask.ts'

/**
 * `escapement export <id> --task <folder>`: creates a task from a session, with its original files as far as known: those in its
 * folder for a session of the command line's own agent, those in `--dir`, if given, for any other.
 */
export async function saveTask(invocation: Invocation, logs: SessionLogs, host: CliHost): Promise<number> {
  const { task: id = '', taskFolder = '', expect } = invocation
  const session = await readSession(logs, id)
  const records = [...session.past, ...session.records]
  const dir = workspaceOf(ownSession(session)?.folder, invocation, host)
  const made = savedTask(records, {
    agentId: id,
    ...(expect === undefined ? {} : { expect }),
    ...(dir === undefined ? {} : { dir }),
  })
  if (!made.ok) return refuse(host, made.why)
  const now = dir === undefined ? undefined : await workspaceFiles(dir)
  const { snapshots } = logs.store
  const saved =
    now === undefined
      ? undefined
      : filesToSave(await filesBefore(now.files, records, async (hash) => snapshots?.get(id, hash)), now)
  const folder = await writeTask({
    folder: resolve(host.cwd(), taskFolder),
    task: blankedValue(made.task),
    recording: withoutSecrets(made.recording, new Set(now?.other)),
    ...(saved === undefined ? {} : { files: saved.files }),
  })
  const notes = [
    ...made.notes,
    ...(saved === undefined ? ['no files go with it: say with --dir which folder it worked in'] : []),
    ...(saved?.notes ?? []),
    ...(made.passes === undefined ? [] : [`the recorded session already passes: ${made.passes}`]),
  ]
  if (wantsJson(invocation, host)) {
    host.stdout.write(`${JSON.stringify({ agentId: id, folder, files: saved?.files.size ?? 0, notes })}\n`)
    return exitCodes.done
  }
  const shown = relative(host.cwd(), folder) || '.'
  host.stdout.write(`"${id}" is a task in ${shown}, with ${counted(saved?.files.size ?? 0, 'file')}.\n`)
  for (const note of notes) tell(host.stdout, `- ${note}\n`)
  host.stdout.write(`Look at its check in task.json, then: escapement eval ${shellWord(taskFolder)} --model embedded\n`)
  return exitCodes.done
}

/** Returns the folder in which a session worked. @throws RuntimeError `INVALID_OPTION` if `--dir` is not a folder. */
function workspaceOf(own: string | undefined, { dir, logs }: Invocation, host: CliHost): string | undefined {
  // Without --logs, --dir says where the logs are, and that is the folder of the session as well.
  const given = dir === undefined ? own : resolve(host.cwd(), dir)
  if (given === undefined) return undefined
  const isFolder = statSync(given, { throwIfNoEntry: false })?.isDirectory() === true
  if (isFolder) return given
  if (dir === undefined) return undefined
  throw new RuntimeError(
    'INVALID_OPTION',
    `--dir "${dir}" is not an existing folder${logs === undefined ? '' : ' to take files from'}.`,
  )
}
