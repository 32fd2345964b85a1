import { RuntimeError } from '../errors.ts'

/**
 * Returns the value of an option if it is one of the allowed words.
 *
 * @throws RuntimeError `INVALID_OPTION` naming the option, the value and the choices.
 */
export function checkChoice<T extends string>(option: string, value: string, choices: readonly T[]): T {
  const choice = choices.find((one) => one === value)
  if (choice !== undefined) return choice
  throw new RuntimeError('INVALID_OPTION', `${option} must be ${choices.join(', ')}; it is ${JSON.stringify(value)}.`)
}
