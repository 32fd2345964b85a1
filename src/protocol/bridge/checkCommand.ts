import { checkRules, wrongCommand } from './commandRules.ts'
import { agentCommands, type AgentCommand, type CheckedCommand } from './commands.ts'
import { describeIssues } from '../errors.ts'
import { isAgentId } from '../text/nodeIds.ts'
import { measured, maxContentChars, saysSomething } from '../text/saidContent.ts'

/**
 * Checks a command from any source.
 * @throws RuntimeError `INVALID_CONTENT`, `INVALID_OPTION`
 */
export function checkCommand(command: AgentCommand): CheckedCommand {
  const parsed = textCommand(command) ?? agentCommands.safeParse(command)
  if (parsed.success) return checkRules(parsed.data)
  throw wrongCommand(command, describeIssues(parsed.error))
}

const saying: ReadonlySet<unknown> = new Set(['agent.prompt', 'agent.interrupt', 'agent.steer', 'agent.followUp'])

/**
 * Returns the command of a plain text for an agent, in blocks as the schema makes them. Most commands are plain texts, and checking one needs no
 * schema; the schemas of all other fields take milliseconds to build.
 */
function textCommand(command: AgentCommand): { readonly success: true; readonly data: CheckedCommand } | undefined {
  const { type, agentId, content: text, ...more } = Object(command) as Partial<Record<string, unknown>>
  if (!saying.has(type) || typeof text !== 'string' || !isAgentId(agentId) || Object.keys(more).length > 0)
    return undefined
  const content = [{ type: 'text' as const, text }]
  if (!content.some(saysSomething) || measured(content) > maxContentChars) return undefined
  return { success: true, data: { agentId, content, type } as CheckedCommand }
}
