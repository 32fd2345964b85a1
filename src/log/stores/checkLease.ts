import { RuntimeError } from '../../protocol/errors.ts'

/** Returns the error for a writer whose log another writer has opened since. */
export const leaseLost = (agentId: string, epoch: number, now: number | undefined): RuntimeError =>
  new RuntimeError(
    'STORE_LEASE_LOST',
    `The log of agent "${agentId}" was opened by another writer${now === undefined ? '' : ` (epoch ${now})`} since this one did (epoch ${epoch}).`,
  )

/** The epochs of a log as its store knows them. */
export interface Epochs {
  /** Epoch of the lease that is out here; `undefined` if none is. */
  readonly held: number | undefined
  /** Epoch of the newest lease so far. */
  readonly newest: number
}

/**
 * Checks that a writer may append. `named` is the epoch of its lease, if it names one. A writer whose lease was taken over is told so, even after the
 * new holder has released the log.
 * @throws RuntimeError `STORE_NOT_OPEN`, `STORE_LEASE_LOST`
 */
export function checkLease(agentId: string, { held, newest }: Epochs, named: number | undefined): void {
  if (named !== undefined && named < newest) throw leaseLost(agentId, named, newest)
  if (held === undefined) throw new RuntimeError('STORE_NOT_OPEN', `The log of agent "${agentId}" is not open.`)
}
