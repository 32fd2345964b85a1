import type { GuardVerdict } from '../guarding.ts'

/** Text that replaces a message that a guard refused, for people and for the model. */
export const withheldText = ({ at, reason = '' }: Pick<GuardVerdict, 'at' | 'reason'>): string =>
  `[${at === 'input' ? 'A message of the user' : 'This answer'} was withheld by the application: ${reason}]`
