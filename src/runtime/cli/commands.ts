import type { Command } from './command.ts'
import { chatCommand } from './commands/chat.ts'
import { demoCommand } from './commands/demo.ts'
import { repairCommand } from './commands/repair.ts'
import { runCommand } from './commands/run.ts'

/** The commands there are, by name. */
export const commands: Readonly<Record<string, Command>> = {
  run: runCommand,
  chat: chatCommand,
  demo: demoCommand,
  repair: repairCommand,
}
