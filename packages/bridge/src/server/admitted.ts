import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { Permit } from './authenticator.ts'
import type { Bridge } from './bridge.ts'

/** A client, as the server let it in. */
export interface Admitted {
  /** Session that it may come back under. */
  readonly sessionId?: string | undefined
  /** Name that its permit gives it. */
  readonly who?: string | undefined
  /** Permit that can be withdrawn; missing for the operator's own code. */
  readonly permit?: Pick<Permit, 'isGranted'>
}

/** Checks that something may still be done for a client. @throws RuntimeError `BRIDGE_UNAUTHORISED`, `SERVER_CLOSED` */
export function checkStillAdmitted({ permit }: Admitted, bridge: Pick<Bridge, 'isClosed'>): void {
  if (permit === undefined) return
  if (!permit.isGranted())
    throw new RuntimeError('BRIDGE_UNAUTHORISED', 'Your permission was withdrawn before this was carried out.')
  if (bridge.isClosed) throw new RuntimeError('SERVER_CLOSED', 'The server began to close before this was carried out.')
}
