import type { GuardVerdict } from '../guarding.ts'

/** Text in place of a message that a guard refused, for the model as well. */
export const withheldText = ({ at, reason = '' }: Pick<GuardVerdict, 'at' | 'reason'>): string =>
  `[${at === 'input' ? 'A message of the user' : 'This answer'} was withheld by the application: ${reason}]`
