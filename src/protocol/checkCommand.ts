import type { z } from 'zod'
import { agentCommandSchema, type AgentCommand } from './commands.ts'
import { describeIssues, RuntimeError } from './errors.ts'

/** A command whose content is in blocks. */
export type CheckedCommand = z.output<typeof agentCommandSchema>

/**
 * Checks a command, wherever it comes from.
 *
 * @throws RuntimeError `INVALID_CONTENT`, `INVALID_OPTION`
 */
export function checkCommand(command: AgentCommand): CheckedCommand {
  const parsed = agentCommandSchema.safeParse(command)
  if (parsed.success) return parsed.data
  const issues = describeIssues(parsed.error)
  if (issues.startsWith('content')) throw new RuntimeError('INVALID_CONTENT', `${issues}.`)
  const type = (command as Partial<AgentCommand> | null | undefined)?.type ?? 'The command'
  throw new RuntimeError('INVALID_OPTION', `${type}: ${issues}.`)
}
