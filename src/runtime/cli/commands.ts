import type { CliHost } from './cliHost.ts'
import type { CommandShape, Invocation } from './commandLine.ts'
import { chatCommand } from './commands/chat.ts'
import { demoCommand } from './commands/demo.ts'
import { runCommand } from './commands/run.ts'

/** A command of the command line; `run` gives the exit code and may throw a `RuntimeError`. */
export interface Command extends CommandShape {
  readonly usage: string
  readonly summary: string
  run(invocation: Invocation, host: CliHost): Promise<number>
}

export const commands: Readonly<Record<string, Command>> = { run: runCommand, chat: chatCommand, demo: demoCommand }
