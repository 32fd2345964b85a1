import type { Refusal } from './guarding.ts'

type Decided = Pick<Refusal, 'at'> & Partial<Pick<Refusal, 'reason'>>

/** What stands in place of a message that a guard refused, for the model as well. */
export const withheldText = ({ at, reason = '' }: Decided): string =>
  `[${at === 'input' ? 'A message of the user' : 'This answer'} was withheld by the application: ${reason}]`
