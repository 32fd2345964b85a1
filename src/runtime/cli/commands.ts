import type { Command } from './command.ts'
import { acpCommand } from './commands/acp.ts'
import { attachCommand } from './commands/attach.ts'
import { chartCommand } from './commands/chart.ts'
import { chatCommand } from './commands/chat.ts'
import { deleteCommand } from './commands/delete.ts'
import { demoCommand } from './commands/demo.ts'
import { exportCommand } from './commands/export.ts'
import { forkCommand } from './commands/fork.ts'
import { importCommand } from './commands/import.ts'
import { inspectCommand } from './commands/inspect.ts'
import { repairCommand } from './commands/repair.ts'
import { replayCommand } from './commands/replay.ts'
import { resumeCommand } from './commands/resume.ts'
import { runCommand } from './commands/run.ts'
import { sendCommand } from './commands/send.ts'
import { serveCommand } from './commands/serve.ts'
import { sessionsCommand } from './commands/sessions.ts'
import { showCommand } from './commands/show.ts'

/** The commands there are, by name. */
export const commands: Readonly<Record<string, Command>> = {
  run: runCommand,
  chat: chatCommand,
  resume: resumeCommand,
  demo: demoCommand,
  chart: chartCommand,
  sessions: sessionsCommand,
  show: showCommand,
  inspect: inspectCommand,
  replay: replayCommand,
  fork: forkCommand,
  delete: deleteCommand,
  export: exportCommand,
  import: importCommand,
  repair: repairCommand,
  serve: serveCommand,
  attach: attachCommand,
  send: sendCommand,
  acp: acpCommand,
}
