import type { ErrorInfo } from '../../../../src/protocol/errors.ts'
import type { Spend, SpendBy, SpendGroup, SpendSaved } from '../../../wire/src/spend.ts'
import type { RemotePage } from './remoteQueries.ts'
import { anything, count, fields, list, maybe, number, orNull, text, type Shape } from './shape.ts'
import { errorShape, usage } from './summaryShapes.ts'

/** Selection and grouping of a server's spending. Times are rounded down to whole five minutes. */
export interface RemoteSpendOptions extends Pick<RemotePage, 'metadata'> {
  /** Key by which spending is grouped. Default: `session`. */
  readonly by?: SpendBy
  /** Only spending from this time on, in epoch milliseconds. */
  readonly since?: number
  /** Length of a slice in milliseconds, a multiple of five minutes. Adds a series of costs to each group. Needs `since`. */
  readonly every?: number
  /** Maximum number of groups, at most 100. Default: 20. */
  readonly limit?: number
}

/** Spending of sessions on models. */
export interface RemoteSpend extends Spend {
  /** Total number of groups. */
  readonly total: number
  /** Number of logs that could not be read to their end. */
  readonly unread: number
  readonly unreadLogs: readonly { readonly agentId: string; readonly error: ErrorInfo }[]
}

const spentFields = {
  requests: count,
  usage,
  costUsd: number,
  unpriced: fields<Spend['unpriced']>({ requests: count, usage }),
}

/** Answer to `session.spend`. */
export const spendShape = fields<RemoteSpend>({
  by: anything as Shape<Spend['by']>,
  ...spentFields,
  groups: list(fields<SpendGroup>({ key: orNull(text), agents: count, over: maybe(list(number)), ...spentFields })),
  saved: maybe(
    fields<SpendSaved>({
      agents: count,
      tokens: number,
      usd: fields<SpendSaved['usd']>({ low: number, high: number }),
      unpriced: fields<SpendSaved['unpriced']>({ agents: count, tokens: number }),
    }),
  ),
  total: count,
  unread: count,
  unreadLogs: list(fields<RemoteSpend['unreadLogs'][number]>({ agentId: text, error: errorShape })),
})

/** Returns the fields of the command `session.spend`. Pure. */
export const spendFrame = ({ by, ...rest }: RemoteSpendOptions) =>
  ({
    type: 'session.spend',
    ...rest,
    ...(typeof by === 'object' ? { by: 'metadata' as const, key: by.metadata } : by === undefined ? {} : { by }),
  }) as const
