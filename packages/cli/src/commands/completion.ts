import { checkChoice } from '../../../../src/protocol/checks/checkChoice.ts'
import { exitCodes } from '../cliHost.ts'
import type { Command, CommandRun } from '../command.ts'
import { completedCommands } from '../completion/completed.ts'
import { completionScripts } from '../completion/completionScripts.ts'

/** `escapement completion <shell>`: prints a shell script that completes commands, options, files and session ids. */
export const completionCommand =
  (commands: Readonly<Record<string, Command>>): CommandRun =>
  ({ task = '' }, host) => {
    const shell = checkChoice('The shell', task, Object.keys(completionScripts))
    host.stdout.write(completionScripts[shell]!(completedCommands(commands)))
    return Promise.resolve(exitCodes.done)
  }
