import { tell } from '../terminal/wordWrap.ts'
import { once } from 'node:events'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { conversationMarkdown } from '../../../sessions/src/conversationMarkdown.ts'
import { exportSession } from '../../../sessions/src/exportSession.ts'
import { failingTest } from '../../../sessions/src/failingTest.ts'
import { sessionPage } from '../../../page/src/sessionPages/writeSessionPages.ts'
import type { CommandRun } from '../command.ts'
import type { Invocation } from '../commandLine.ts'
import { exitCodes, type CliHost } from '../cliHost.ts'
import { writeNew } from '../sessions/newFile.ts'
import { readSession } from '../sessions/readSession.ts'
import { checkSession, logsFor, refuse, wantsJson, type SessionLogs } from '../sessions/sessionLogs.ts'
import { counted } from '../../../charts/src/amounts.ts'
import { withoutControls } from '../../../charts/src/plainText.ts'

/** `escapement export <id>`: writes a session as one file, with the past that a fork shares, or as Markdown, a page, a test, or a task. */
export const exportCommand: CommandRun = async (invocation, host) => {
  const { task: id = '', out } = invocation
  checkForm(invocation)
  const logs = await logsFor(invocation, host)
  await checkSession(logs, id)
  if (invocation.taskFolder !== undefined) {
    const { saveTask } = await import('../savedTask/saveTask.ts')
    return saveTask(invocation, logs, host)
  }
  const lines = await linesOf(invocation, logs, host)
  if (lines === undefined) return exitCodes.failed
  if (out === undefined) {
    // A file has it as it is; at a terminal it is to be read.
    const shown = host.stdout.isTTY ? withoutControls : (line: string): string => line
    for await (const line of lines) if (!host.stdout.write(shown(line))) await once(host.stdout, 'drain')
    return exitCodes.done
  }
  const count = await writeNew(out, lines)
  const written = { agentId: id, file: out, lines: count }
  host.stdout.write(
    wantsJson(invocation, host) ? `${JSON.stringify(written)}\n` : `"${id}" is in ${out}: ${counted(count, 'line')}.\n`,
  )
  return exitCodes.done
}

/** Checks that the options name one form of export. @throws RuntimeError `INVALID_OPTION` */
function checkForm({ jsonl, markdown, html, test, expect, taskFolder, out }: Invocation): void {
  const isTask = taskFolder !== undefined
  if ([jsonl, markdown, html, test, isTask].filter(Boolean).length > 1)
    throw new RuntimeError('INVALID_OPTION', 'Give one of --jsonl, --markdown, --html, --test and --task.')
  if (expect !== undefined && !test && !isTask)
    throw new RuntimeError('INVALID_OPTION', '--expect needs --test or --task.')
  if (isTask && out !== undefined)
    throw new RuntimeError('INVALID_OPTION', '--task says which folder the task goes to: leave --out out.')
  if (expect?.trim() === '')
    throw new RuntimeError('INVALID_OPTION', '--expect is empty: give the text expected in the answer.')
}

/** Returns the lines of the file; `undefined` if there is none, after printing the reason. */
async function linesOf(
  { task: id = '', markdown, html, test, expect }: Invocation,
  logs: SessionLogs,
  host: CliHost,
): Promise<AsyncIterable<string> | Iterable<string> | undefined> {
  if (html) return splitLines(await sessionPage(logs.store, id))
  if (!markdown && !test) return exportSession(logs.store, id)
  const { conversation, title = id, past, records } = await readSession(logs, id)
  if (markdown) {
    const messages = conversation.trunk().map(({ message }) => message)
    return splitLines(conversationMarkdown(title, messages))
  }
  const made = failingTest([...past, ...records], { agentId: id, ...(expect === undefined ? {} : { expect }) })
  if (!made.ok) {
    refuse(host, made.why)
    return undefined
  }
  if (made.passes !== undefined) tell(host.stderr, `escapement: the recorded session already passes: ${made.passes}.\n`)
  return splitLines(made.source)
}

/** Splits a text into lines, each with its newline. */
const splitLines = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []
