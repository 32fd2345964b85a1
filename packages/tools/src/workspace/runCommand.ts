import { z } from 'zod'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { hasCode, messageOf } from '../../../../src/protocol/errors.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { defineTool, type ToolContext } from '../../../../src/actors/tools/defineTool.ts'
import type { Approval } from './approval.ts'
import { type ExecEnd, isWorkspaceError } from './port.ts'
import type { TreeUndo } from './tree/treeUndo.ts'
import type { WorkspaceUse } from './workspaceUse.ts'

const defaultTimeoutMs = 120_000
/** Time limit of the tool itself, in milliseconds, because a command may have to wait for others if commands are undone. */
const dayMs = 86_400_000
/** Kept beginning and end of the output, in UTF-16 units. */
const headChars = 10_000
const tailChars = 18_000

const input = lazily(() =>
  z.object({
    command: z.string().min(1).describe('Command line for /bin/sh -c.'),
    timeoutMs: z.int().positive().optional().describe('Milliseconds after which it is stopped.'),
    cwd: z
      .string()
      .min(1)
      .optional()
      .describe('Folder to start in, relative to the workspace. Default: the workspace.'),
  }),
)
export type RunCommandInput = z.output<ReturnType<typeof input>>

export interface RunCommandOptions {
  readonly clock: Clock
  /** Maximum time for a command, in milliseconds, whatever the model asks for. */
  readonly maxTimeoutMs: number
  readonly env: { readonly [name: string]: string | undefined }
  /** True if the model may let a command continue in the background. */
  readonly background?: boolean | undefined
  /** Maximum time for a command in the background, in milliseconds. */
  readonly maxBackgroundMs: number
  /** Undoes the changes of commands. */
  readonly tree?: TreeUndo | undefined
}

/**
 * Creates `run_command`. **In a folder of this machine only the starting folder of a command is confined to it: the shell can read, change and send
 * whatever this process can.** Let a person approve it (`needsApproval`), or use another workspace.
 */
export const runCommandTool = (
  use: WorkspaceUse,
  needsApproval: Approval<RunCommandInput>,
  options: RunCommandOptions,
) => {
  const { maxTimeoutMs, background: mayStay = false, maxBackgroundMs, tree } = options
  return defineTool({
    name: 'run_command',
    description:
      `Run a shell command (/bin/sh -c) that starts in the workspace and ends by itself. ${use.description} ` +
      `No input, no terminal. Standard output and error come ` +
      `back together, the middle of a long one left out, with the exit code. Stopped after timeoutMs (default ` +
      `${Math.min(defaultTimeoutMs, maxTimeoutMs)}, at most ${maxTimeoutMs}). Processes still running in the background when the ` +
      `command ends are stopped.${mayStay ? inBackground(maxBackgroundMs) : ''}${tree === undefined ? '' : undoes}`,
    input: input(),
    canonical: ({ cwd, ...given }) => (cwd === undefined ? given : { ...given, cwd: use.spell(cwd, 'folder') }),
    subject: ({ command }) => ({ command }),
    needsApproval,
    effects: 'irreversible',
    ...tree?.tool,
    // Longer than the command's own limit, whose result includes the output and the reason.
    timeoutMs: tree === undefined ? Math.max(maxTimeoutMs, mayStay ? maxBackgroundMs : 0) + 10_000 : dayMs,
    ...(mayStay ? { background: 'choice' as const, cleanUp: (left: unknown) => use.endLeft(left) } : {}),
    run: (given, context) => {
      const run = (): Promise<string> => runCommand(use, { ...options, ...given }, context)
      return tree === undefined ? run() : tree.around(given.command, context, run)
    },
  })
}

async function runCommand(
  use: WorkspaceUse,
  { command, timeoutMs, cwd = '.', clock, maxTimeoutMs, maxBackgroundMs, env }: RunCommandInput & RunCommandOptions,
  context: ToolContext,
): Promise<string> {
  const { signal, background, leaves } = context
  signal.throwIfAborted()
  if (command.includes('\0')) throw new Error('command holds a NUL character')
  const output = boundedOutput()
  const progress = outputProgress((piece) => context.report(piece), clock)
  const decoder = new TextDecoder()
  // Redact before truncating: half a secret would not be recognised.
  const clean = context.redact?.stream()
  const show = (text = ''): void => {
    if (text === '') return
    output.add(text)
    progress.add(text)
  }
  const take = (text: string): void => show(clean === undefined ? text : clean.push(text)?.text)
  const stays = background !== undefined
  const [usualMs, mostMs] = stays ? [maxBackgroundMs, maxBackgroundMs] : [defaultTimeoutMs, maxTimeoutMs]
  const limitMs = Math.min(timeoutMs ?? usualMs, mostMs)
  const startedAt = clock.now()
  const end = await use
    .of(context)
    .exec(command, {
      cwd,
      env,
      timeoutMs: limitMs,
      signal,
      ...(stays ? { started: leaves } : {}),
      onOutput: (bytes) => take(decoder.decode(bytes, { stream: true })),
    })
    .catch((thrown: unknown) => {
      if (hasCode(thrown, 'WORKSPACE_FAILED')) throw thrown
      if (isWorkspaceError(thrown) && !hasCode(thrown, 'WORKSPACE_REFUSED')) throw thrown
      throw new Error(`The command could not be started: ${messageOf(thrown)}`, { cause: thrown })
    })
    .finally(() => {
      take(decoder.decode())
      show(clean?.end()?.text)
      progress.end()
    })
  const seconds = `${((clock.now() - startedAt) / 1000).toFixed(1)} s`
  const leftBehind = end.leftBehind === true ? '; processes it left in the background were stopped' : ''
  const text = `${output.text().trimEnd() || '(no output)'}\n[${outcome(end, limitMs)} after ${seconds}${leftBehind}]`
  // An error result tells the model that the command failed.
  if (end.code !== 0 || end.stopped !== undefined) throw new Error(text)
  return text
}

const undoes = ' An undo takes back what it did to files of the workspace, and nothing else.'

const inBackground = (maxMs: number): string =>
  ` A server, or a long build, goes into the background: there it may run for ${maxMs} ms, and check_call shows its output.`

function outcome({ code, killedBy, stopped }: ExecEnd, limitMs: number): string {
  if (stopped === 'timeout') return `timed out: stopped by the limit of ${limitMs} ms`
  if (stopped === 'abort') return 'aborted'
  return code === null ? `killed by ${killedBy ?? 'the system'}` : `exit code ${code}`
}

/** Keeps the beginning and the end of a text of any length, in bounded memory, with a line between them that names the length left out. */
function boundedOutput(): { add(text: string): void; text(): string } {
  let head = ''
  let tail = ''
  let dropped = 0
  const trim = (): void => {
    const excess = Math.max(0, tail.length - tailChars)
    dropped += excess
    tail = tail.slice(excess)
  }
  return {
    add: (text) => {
      const room = headChars - head.length
      head += text.slice(0, room)
      tail += text.slice(room)
      if (tail.length > 2 * tailChars) trim()
    },
    text: () => {
      trim()
      const cut = dropped === 0 ? '' : `\n[… ${dropped} characters left out …]\n`
      return (head + cut + tail).toWellFormed()
    },
  }
}

const everyMs = 250
const maxChars = 4000

/** Reports output as it arrives, at most four times a second. */
interface OutputProgress {
  add(text: string): void
  /** Reports the rest and stops the timer. Idempotent. */
  end(): void
}

/** Reports `{ output }`: the text since the last report, or its end if it is long. The first piece is reported at once. */
export function outputProgress(report: (progress: { readonly output: string }) => void, clock: Clock): OutputProgress {
  let waiting = ''
  let cancel: (() => void) | undefined
  const flush = (): void => {
    if (waiting === '') return
    const output = waiting.length > maxChars ? `…${waiting.slice(-maxChars)}` : waiting
    waiting = ''
    report({ output: output.toWellFormed() })
  }
  const tick = (): void => {
    cancel = undefined
    if (waiting === '') return
    flush()
    cancel = clock.after(everyMs, tick)
  }
  return {
    add: (text) => {
      waiting = (waiting + text).slice(-maxChars - 1)
      if (cancel !== undefined) return
      flush()
      cancel = clock.after(everyMs, tick)
    },
    end: () => {
      cancel?.()
      cancel = undefined
      flush()
    },
  }
}
