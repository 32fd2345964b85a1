import { cloneJson } from '../checks/cloneJson.ts'
import type { AgentCommand, CheckedCommand } from './commands.ts'
import { messageOf, RuntimeError } from '../errors.ts'
import { jsonChars } from '../text/jsonChars.ts'
import { maxContentChars } from '../text/saidContent.ts'

/** Characters allowed for the rest of a command beside the largest content. */
const commandChars = 64 * 1024

/**
 * Checks the rules between the fields of a command, each of which is right by itself; returns a copy where the sender could change it.
 *
 * @throws RuntimeError `INVALID_CONTENT`, `INVALID_OPTION`
 */
export const checkRules = <C extends AgentCommand | CheckedCommand>(command: C): C =>
  checkSize(checkDecision(checkPrune(command)))

/** @throws RuntimeError `INVALID_CONTENT` if it is the content that is wrong, else `INVALID_OPTION` */
export function wrongCommand(command: unknown, issues: string): RuntimeError {
  if (issues.startsWith('content')) return new RuntimeError('INVALID_CONTENT', `${issues}.`)
  const type = (command as Partial<AgentCommand> | null | undefined)?.type ?? 'The command'
  return new RuntimeError('INVALID_OPTION', `${type}: ${issues}.`)
}

function checkPrune<C extends AgentCommand | CheckedCommand>(command: C): C {
  if (command.type !== 'agent.prune') return command
  if (command.steps === undefined && command.tokens === undefined)
    throw new RuntimeError('INVALID_OPTION', 'agent.prune: give "steps" or "tokens".')
  if (command.mask === true && command.memo !== undefined)
    throw new RuntimeError(
      'INVALID_OPTION',
      'agent.prune: give "memo" or "mask": a memo takes the place of hidden steps.',
    )
  return command
}

/** Fields that each decision may and must have. */
const decisionFields = {
  approve: { may: ['input', 'reason'] },
  deny: { may: ['reason'] },
  answer: { may: ['value'], must: 'value' },
  return: { may: ['value'] },
  fail: { may: ['reason'], must: 'reason' },
} as const satisfies { readonly [decision: string]: { readonly may: readonly string[]; readonly must?: string } }

/** @throws RuntimeError `INVALID_OPTION`: a field is missing or has no place here, or JSON cannot hold it. */
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

/** Checks the size of a command: all of it goes into one record, its context too. */
function checkSize<C extends AgentCommand | CheckedCommand>(command: C): C {
  const chars = jsonChars(command)
  if (chars <= maxContentChars + commandChars) return command
  const what = `${command.type}: it takes ${chars} characters with all that goes with it, more than ${maxContentChars}.`
  throw new RuntimeError('content' in command ? 'INVALID_CONTENT' : 'INVALID_OPTION', what)
}
