import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { Permit } from './authenticator.ts'
import type { Bridge } from './bridge.ts'

/** A client that the server has admitted. */
export interface Admitted {
  /** Session under which the client may return. */
  readonly sessionId?: string | undefined
  /** Name of the client according to its permit. */
  readonly who?: string | undefined
  /** Permit, which may be withdrawn; missing for the operator's own code. */
  readonly permit?: Pick<Permit, 'isGranted'>
}

/** Checks that a client's command may still be carried out. @throws RuntimeError `BRIDGE_UNAUTHORISED`, `SERVER_CLOSED` */
export function checkStillAdmitted({ permit }: Admitted, bridge: Pick<Bridge, 'isClosed'>): void {
  if (permit === undefined) return
  if (!permit.isGranted())
    throw new RuntimeError('BRIDGE_UNAUTHORISED', 'Your permission was withdrawn before this was carried out.')
  if (bridge.isClosed) throw new RuntimeError('SERVER_CLOSED', 'The server began to close before this was carried out.')
}
