import type { CheckedClientFrame } from '../../../wire/src/frames.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { SpendBy } from '../../../wire/src/spend.ts'
import { checkSpend, type SpendOptions, type StoreSpend } from '../../../sessions/src/spend/spendOf.ts'
import type { AgentAccess } from './agentAccess.ts'
import type { Bridge } from './bridge.ts'
import { outwardError } from './outwardError.ts'

type SpendFrame = Extract<CheckedClientFrame, { type: 'session.spend' }>

/** Default number of groups. */
const defaultGroups = 20

/** Spending, with the total number of groups. */
type SpendAnswer = StoreSpend & { readonly total: number }

/** Sums the spending of the sessions that a client may see. */
export async function spendFor(
  { spend }: Pick<Bridge, 'spend'>,
  access: Pick<AgentAccess, 'wanted'>,
  { metadata, limit, ...frame }: SpendFrame,
): Promise<SpendAnswer> {
  const options = optionsOf(frame)
  const wanted = access.wanted(metadata === undefined ? {} : { metadata })
  return inGroups(await spend.sum(wanted, options), limit)
}

/** Returns the options of a frame. @throws RuntimeError `INVALID_OPTION` */
export function optionsOf({ by = 'session', key, since, every }: Omit<SpendFrame, 'metadata' | 'limit'>): SpendOptions {
  if ((by === 'metadata') !== (key !== undefined))
    throw new RuntimeError('INVALID_OPTION', 'session.spend: give a key with by: "metadata", and only then.')
  const groups: SpendBy = by === 'metadata' ? { metadata: key! } : by
  const options = {
    by: groups,
    ...(since === undefined ? {} : { since }),
    ...(every === undefined ? {} : { every }),
  }
  checkSpend('session.spend', options)
  return options
}

/** Returns the spending with only its largest groups. */
export const inGroups = (spend: StoreSpend, limit = defaultGroups): SpendAnswer => ({
  ...spend,
  groups: spend.groups.slice(0, limit),
  total: spend.groups.length,
  unreadLogs: spend.unreadLogs.map((log) => ({ ...log, error: outwardError(log.error) })),
})
