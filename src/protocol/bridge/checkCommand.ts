import { checkRules, wrongCommand } from './commandRules.ts'
import { agentCommands, type AgentCommand, type CheckedCommand } from './commands.ts'
import { describeIssues } from '../errors.ts'
import { isAgentId } from '../text/nodeIds.ts'
import { charsOf, maxContentChars, saysSomething } from '../text/saidContent.ts'

/**
 * Checks a command from any source.
 * @throws RuntimeError `INVALID_CONTENT`, `INVALID_OPTION`
 */
export function checkCommand(command: AgentCommand): CheckedCommand {
  const said = textCommand(command)
  if (said !== undefined) return said
  const parsed = agentCommands.safeParse(command)
  if (parsed.success) return checkRules(parsed.data)
  throw wrongCommand(command, describeIssues(parsed.error))
}

const saying: ReadonlySet<unknown> = new Set(['agent.prompt', 'agent.interrupt', 'agent.steer', 'agent.followUp'])
const fields: ReadonlySet<string> = new Set(['type', 'agentId', 'content'])

/**
 * Returns the command for a plain text to an agent, in blocks as the schema makes them. Most commands are plain texts, and checking
 * one needs neither the rules between fields nor a schema. The schemas of all other fields take milliseconds to build.
 */
function textCommand(command: AgentCommand): CheckedCommand | undefined {
  const given = Object(command) as Partial<Record<string, unknown>>
  const { type, agentId, content: text } = given
  if (!saying.has(type) || typeof text !== 'string' || !isAgentId(agentId)) return undefined
  if (Object.keys(given).some((field) => !fields.has(field))) return undefined
  const said = { type: 'text', text } as const
  if (!saysSomething(said) || charsOf(said) > maxContentChars) return undefined
  return { agentId, content: [said], type } as CheckedCommand
}
