import { cloneJson } from '../checks/cloneJson.ts'
import type { AgentCommand, CheckedCommand, DecideOptions, Decision } from './commands.ts'
import { messageOf, RuntimeError } from '../errors.ts'
import { jsonChars, maxContentChars, withoutBytes } from '../text/saidContent.ts'

/** Characters allowed for the other fields of a command, besides the largest content. */
const commandChars = 64 * 1024

/**
 * Checks the rules between fields that are each valid by themselves. Returns a copy of any object that the sender could still change.
 * @throws RuntimeError `INVALID_CONTENT`, `INVALID_OPTION`
 */
export const checkRules = <C extends AgentCommand | CheckedCommand>(command: C): C =>
  checkSize(checkDecision(checkPrune(command)))

/** Returns the error of an invalid command: `INVALID_CONTENT` if its content is wrong, else `INVALID_OPTION`. */
export function wrongCommand(command: unknown, issues: string): RuntimeError {
  if (issues.startsWith('content')) return new RuntimeError('INVALID_CONTENT', `${issues}.`)
  const type = (command as Partial<AgentCommand> | null | undefined)?.type ?? 'The command'
  return new RuntimeError('INVALID_OPTION', `${type}: ${issues}.`)
}

function checkPrune<C extends AgentCommand | CheckedCommand>(command: C): C {
  if (command.type !== 'agent.prune') return command
  const { steps, tokens, memo, mask, show } = command
  if (show === true && (steps === undefined || (tokens ?? memo ?? mask) !== undefined))
    throw new RuntimeError('INVALID_OPTION', 'agent.prune: "show" takes "steps" alone.')
  if (steps === undefined && tokens === undefined)
    throw new RuntimeError('INVALID_OPTION', 'agent.prune: give "steps" or "tokens".')
  if (mask === true && memo !== undefined)
    throw new RuntimeError(
      'INVALID_OPTION',
      'agent.prune: give "memo" or "mask": a memo takes the place of hidden steps.',
    )
  return command
}

const decisionFields = {
  approve: { may: ['input', 'reason'] },
  deny: { may: ['reason'] },
  answer: { may: ['value'], must: 'value' },
  return: { may: ['value'] },
  fail: { may: ['reason'], must: 'reason' },
} as const satisfies { readonly [decision: string]: { readonly may: readonly string[]; readonly must?: string } }

/** Checks the fields of a decision. @throws RuntimeError `INVALID_OPTION` if a field is missing or not allowed, or if JSON cannot hold it */
function checkDecision<C extends AgentCommand | CheckedCommand>(command: C): C {
  if (command.type !== 'agent.decide') return command
  const { decision } = command
  const rule: { readonly may: readonly string[]; readonly must?: string } = decisionFields[decision]
  const refuse = (what: string): RuntimeError => new RuntimeError('INVALID_OPTION', `agent.decide: ${what}.`)
  const extra = (['reason', 'input', 'value'] as const).find((field) => field in command && !rule.may.includes(field))
  if (extra !== undefined) throw refuse(`"${extra}" does not go with "${decision}"`)
  if (rule.must !== undefined && command[rule.must as 'value' | 'reason'] === undefined)
    throw refuse(`"${decision}" needs a "${rule.must}"`)
  try {
    const { input, value } = command
    return {
      ...command,
      ...(input === undefined ? {} : { input: cloneJson(input) }),
      ...(value === undefined ? {} : { value: cloneJson(value) }),
    }
  } catch (thrown) {
    throw refuse(messageOf(thrown))
  }
}

/** Checks the size of a command: one record has to hold it with its context. */
function checkSize<C extends AgentCommand | CheckedCommand>(command: C): C {
  const chars = jsonChars(command)
  if (chars <= maxContentChars + commandChars) return command
  const what = `${command.type}: it takes ${chars} characters with all that goes with it, more than ${maxContentChars}.`
  throw new RuntimeError('content' in command ? 'INVALID_CONTENT' : 'INVALID_OPTION', what)
}

/** Converts a decision to the form of the command. An invalid value is returned for the command's schema to report. */
export function decided(decision: Decision, how: string | DecideOptions = {}): object {
  const options = typeof how === 'string' ? { reason: how } : given(how)
  if (typeof decision !== 'object' || decision === null) return { decision, ...options }
  if ('value' in decision) return { decision: 'answer', value: decision.value, ...options }
  if ('result' in decision)
    return { decision: 'return', ...given({ value: decision.result, data: decision.data }), ...options }
  return 'error' in decision ? { decision: 'fail', reason: decision.error, ...options } : { decision, ...options }
}

/** Returns a command in the form that is sent over a connection, without raw bytes, which JSON cannot hold. */
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
