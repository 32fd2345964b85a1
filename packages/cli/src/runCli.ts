import { messageOf, RuntimeError } from '../../../src/protocol/errors.ts'
import { version } from '../../../src/protocol/version.ts'
import { type CliHost, exitCodes } from './cliHost.ts'
import { checkChoice } from '../../../src/protocol/checks/checkChoice.ts'
import { parseCommandLine, type Invocation } from './commandLine.ts'
import { commands } from './commandList.ts'
import { commandHelp, fittedHelp, helpText } from './helpText.ts'
import { stopForGood } from './signals.ts'
import { themes } from './terminal/theme.ts'

/** Returns the host with the theme and bell that the options choose. @throws RuntimeError `INVALID_OPTION` for an unknown theme. */
function hostFor({ theme, noBell }: Pick<Invocation, 'theme' | 'noBell'>, host: CliHost): CliHost {
  if (theme === undefined && !noBell) return host
  const { stdin, stdout, stderr, env } = host
  return {
    stdin,
    stdout,
    stderr,
    env,
    isSilent: noBell,
    ...(theme === undefined ? {} : { theme: checkChoice('--theme', theme, themes) }),
    cwd: () => host.cwd(),
    on: host.on.bind(host),
    off: host.off.bind(host),
    exit: host.exit.bind(host),
  }
}

/** Runs one command line and returns the exit code. Never throws. */
export async function runCli(args: readonly string[], host: CliHost): Promise<number> {
  const { stdout, stderr } = host
  let isCutOff = false
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') {
      stderr.write(`escapement: standard output cannot be written: ${error.message}.\n`)
      return host.exit(exitCodes.failed)
    }
    // `escapement … | head` closes our output early: not an error, but whatever is running must be stopped.
    if (isCutOff) return undefined
    isCutOff = true
    return stopForGood(host) ? undefined : host.exit(exitCodes.done)
  })
  // There is nowhere left to report it.
  stderr.on('error', () => {})
  const line = parseCommandLine(args, commands)
  switch (line.type) {
    case 'help': {
      const text = line.command === undefined ? helpText(commands) : commandHelp(line.command, commands[line.command]!)
      stdout.write(stdout.isTTY && stdout.columns > 1 ? fittedHelp(text, stdout.columns) : text)
      return exitCodes.done
    }
    case 'version':
      stdout.write(`${version}\n`)
      return exitCodes.done
    case 'mistake': {
      const { tell } = await import('./terminal/wordWrap.ts')
      const help = line.command === undefined ? '--help' : `help ${line.command}`
      tell(stderr, `escapement: ${line.message}\nSee: escapement ${help}\n`)
      return exitCodes.usage
    }
    case 'command':
      try {
        const run = await commands[line.invocation.command]!.load()
        const code = await run(line.invocation, hostFor(line.invocation, host))
        return isCutOff ? exitCodes.done : code
      } catch (thrown) {
        const isMistake = thrown instanceof RuntimeError && thrown.code === 'INVALID_OPTION'
        const code = thrown instanceof RuntimeError ? ` (${thrown.code})` : ''
        // Only now: nothing that goes well needs it.
        const { withoutControls } = await import('../../charts/src/plainText.ts')
        const { tell } = await import('./terminal/wordWrap.ts')
        tell(stderr, `escapement: ${withoutControls(messageOf(thrown))}${code}\n`)
        return isMistake ? exitCodes.usage : exitCodes.failed
      }
  }
}
