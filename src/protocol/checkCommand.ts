import { checkRules, wrongCommand } from './commandRules.ts'
import { agentCommands, type AgentCommand, type CheckedCommand } from './commands.ts'
import { describeIssues } from './errors.ts'

/**
 * Checks a command, wherever it comes from.
 *
 * @throws RuntimeError `INVALID_CONTENT`, `INVALID_OPTION`
 */
export function checkCommand(command: AgentCommand): CheckedCommand {
  const parsed = agentCommands.safeParse(command)
  if (parsed.success) return checkRules(parsed.data)
  throw wrongCommand(command, describeIssues(parsed.error))
}
