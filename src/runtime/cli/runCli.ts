import { messageOf, RuntimeError } from '../../protocol/errors.ts'
import { version } from '../../protocol/version.ts'
import type { CliHost } from './cliHost.ts'
import { parseCommandLine } from './commandLine.ts'
import { commands } from './commands.ts'
import { exitCodes } from './exitCodes.ts'
import { commandHelp, helpText } from './helpText.ts'

/** Runs one command line and gives the exit code. Never throws. */
export async function runCli(args: readonly string[], host: CliHost): Promise<number> {
  const { stdout, stderr } = host
  // `escapement … | head` closes our output early: that is no error of ours.
  stdout.on('error', (error: NodeJS.ErrnoException) =>
    host.exit(error.code === 'EPIPE' ? exitCodes.done : exitCodes.failed),
  )
  const line = parseCommandLine(args, commands)
  switch (line.type) {
    case 'help':
      stdout.write(line.command === undefined ? helpText(commands) : commandHelp(commands[line.command]!))
      return exitCodes.done
    case 'version':
      stdout.write(`${version}\n`)
      return exitCodes.done
    case 'mistake':
      stderr.write(`escapement: ${line.message}\nSee escapement --help.\n`)
      return exitCodes.usage
    case 'command':
      try {
        return await commands[line.invocation.command]!.run(line.invocation, host)
      } catch (thrown) {
        const isMistake = thrown instanceof RuntimeError && thrown.code === 'INVALID_OPTION'
        const code = thrown instanceof RuntimeError ? ` (${thrown.code})` : ''
        stderr.write(`escapement: ${messageOf(thrown)}${code}\n`)
        return isMistake ? exitCodes.usage : exitCodes.failed
      }
  }
}
