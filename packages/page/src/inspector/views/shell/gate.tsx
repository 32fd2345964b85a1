import type { Inspector } from '../../model/shell/inspector.ts'
import { ExpiredLink } from './expiredLink.tsx'
import { TokenForm } from './tokenForm.tsx'

export interface GateProps {
  readonly inspector: Inspector
}

/** Page for a client that the server does not let in: its link has expired, or it needs a token. */
export function Gate({ inspector }: GateProps) {
  const isExpired = inspector.attached.value.connection.status.value === 'expired'
  return isExpired ? (
    <ExpiredLink onOther={() => inspector.useToken(undefined)} />
  ) : (
    <TokenForm hadToken={inspector.token !== undefined} onGive={(token) => inspector.useToken(token)} />
  )
}
