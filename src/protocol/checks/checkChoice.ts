import { RuntimeError } from '../errors.ts'

/**
 * Returns the value of an option if it is one of the allowed words.
 *
 * @throws RuntimeError `INVALID_OPTION` naming the option, the value and the choices.
 */
export function checkChoice<T extends string>(option: string, value: string, choices: readonly T[]): T {
  const choice = choices.find((one) => one === value)
  if (choice !== undefined) return choice
  const words = [choices.slice(0, -1).join(', '), choices.at(-1)].filter(Boolean).join(' or ')
  throw new RuntimeError('INVALID_OPTION', `${option} must be ${words}; it is ${JSON.stringify(value)}.`)
}
