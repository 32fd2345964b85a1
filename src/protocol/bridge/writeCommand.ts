import type { AgentCommand, DecideOptions, Decision } from './commands.ts'
import { withoutBytes } from '../text/saidContent.ts'

/** Converts a decision to the form of the command. An invalid value is returned for the command's schema to report. */
export function decided(decision: Decision, how: string | DecideOptions = {}): object {
  const options = typeof how === 'string' ? { reason: how } : given(how)
  if (typeof decision !== 'object' || decision === null) return { decision, ...options }
  if ('value' in decision) return { decision: 'answer', value: decision.value, ...options }
  if ('result' in decision)
    return { decision: 'return', ...given({ value: decision.result, data: decision.data }), ...options }
  return 'error' in decision ? { decision: 'fail', reason: decision.error, ...options } : { decision, ...options }
}

/** Returns a command in the form that is sent over a connection, as JSON holds no bytes. */
export function asFrame(command: AgentCommand): AgentCommand {
  if (!('content' in command)) return command
  const { content, context } = command
  const before = context?.map((message) => ({ ...message, content: withoutBytes(message.content) }))
  return { ...command, content: withoutBytes(content), ...(before === undefined ? {} : { context: before }) }
}

/** Returns the given options, including unknown ones, so that the command's schema can report them. */
export const given = (options: object): object =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))

/** Converts one step or several to the form of the command. Any other value is returned for its schema to report. */
export const stepsIn = (steps: string | readonly string[]): string[] =>
  typeof steps === 'string' ? [steps] : (steps as string[])
