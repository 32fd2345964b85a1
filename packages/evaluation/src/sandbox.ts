import { commandEnvironment } from '../../tools/src/workspace/commandEnvironment.ts'
import { runProcessGroup } from '../../tools/src/workspace/processGroup.ts'
import type { CommandSandbox } from '../../tools/src/workspace/localWorkspace.ts'
import type { Clock } from '../../../src/protocol/ports/clock.ts'
import { cutMiddle } from '../../../src/protocol/text/cutMiddle.ts'
import { messageOf } from '../../../src/protocol/errors.ts'
import type { CommandResult } from './suite/defineSuite.ts'

/**
 * Variables for the commands of an evaluation, besides the harmless ones: they make test runners print for machines, even in another runner.
 */
export const commandEnv = { NO_COLOR: '1', FORCE_COLOR: undefined, NODE_TEST_CONTEXT: undefined } as const

/** Place where commands run: this machine, or a sandbox. */
export interface Shell {
  readonly clock: Clock
  readonly sandbox?: CommandSandbox | undefined
}

/** Maximum length of a kept output, in UTF-16 units: its beginning and its end. */
const mostOutput = 64_000

/** Runs a command in a folder, to its end, its timeout or an abort, with all processes that it started. Never rejects. */
export async function runShell(
  { clock, sandbox }: Shell,
  command: string,
  { dir, timeoutMs, signal }: { readonly dir: string; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<CommandResult> {
  const decoder = new TextDecoder()
  let output = ''
  const add = (text: string): void => {
    output += text
    if (output.length > 2 * mostOutput) output = cutMiddle(output, mostOutput)
  }
  try {
    const end = await runProcessGroup({
      command,
      launch: sandbox?.launch(command, dir),
      cwd: dir,
      env: commandEnvironment(process.env, commandEnv),
      timeoutMs,
      signal,
      clock,
      onOutput: (bytes) => add(decoder.decode(bytes, { stream: true })),
    })
    add(decoder.decode())
    return { code: end.stopped === undefined ? end.code : null, output, timedOut: end.stopped === 'timeout' }
  } catch (thrown) {
    return { code: null, output: `the command could not be started: ${messageOf(thrown)}`, timedOut: false }
  }
}
