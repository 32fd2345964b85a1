import { RuntimeError } from '../../protocol/errors.ts'

/** The error of a writer that appends to a log that another one has opened since. */
export const leaseLost = (agentId: string, epoch: number, now: number | undefined): RuntimeError =>
  new RuntimeError(
    'STORE_LEASE_LOST',
    `The log of agent "${agentId}" was opened by another writer${now === undefined ? '' : ` (epoch ${now})`} since this one did (epoch ${epoch}).`,
  )

/** The epochs of a log as its store knows them. */
export interface Epochs {
  /** Epoch of the lease that is out here; `undefined` if none is. */
  readonly held: number | undefined
  /** Epoch of the newest lease there was. */
  readonly newest: number
}

/**
 * Refuses a writer that may not append. `named`: the epoch of its lease; `undefined`: it names none. A writer whose lease was taken is told
 * so, also once the taker has released it.
 *
 * @throws RuntimeError `STORE_NOT_OPEN`, `STORE_LEASE_LOST`
 */
export function checkLease(agentId: string, { held, newest }: Epochs, named: number | undefined): void {
  if (named !== undefined && named < newest) throw leaseLost(agentId, named, newest)
  if (held === undefined) throw new RuntimeError('STORE_NOT_OPEN', `The log of agent "${agentId}" is not open.`)
}
