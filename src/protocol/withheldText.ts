import type { Refusal } from './guarding.ts'

/** What stands in place of a message that a guard refused, for the model as well. */
export const withheldText = (at: Refusal['at'], reason: string): string =>
  `[${at === 'input' ? 'A message of the user' : 'This answer'} was withheld by the application: ${reason}]`
