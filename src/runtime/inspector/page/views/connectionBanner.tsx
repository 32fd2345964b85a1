import { Icon } from '../parts/icon.tsx'
import { useNow } from '../parts/useNow.ts'
import type { Connection } from '../model/connection.ts'
import type { Clock } from '../../../../protocol/clock.ts'

/** Says that there is no connection, and when it is tried again; what is shown stays. */
export function ConnectionBanner({ connection, clock }: { readonly connection: Connection; readonly clock: Clock }) {
  const status = connection.status.value
  if (status !== 'reconnecting' && !(status === 'connecting' && connection.retryAt.value !== null)) return null
  return (
    <div class="banner warn">
      <Icon name="warning" />
      <span class="grow">
        <strong>{status === 'reconnecting' ? 'The connection is lost.' : 'The server does not answer.'}</strong>{' '}
        {status === 'reconnecting' ? 'What you see is as it was. ' : `It was asked at ${connection.url}. `}
        <Countdown connection={connection} clock={clock} />
      </span>
    </div>
  )
}

function Countdown({ connection, clock }: { readonly connection: Connection; readonly clock: Clock }) {
  const now = useNow(clock, 250)
  const seconds = Math.ceil(((connection.retryAt.value ?? now) - now) / 1_000)
  return <span class="number">{seconds > 0 ? `Next attempt in ${seconds} s.` : 'Connecting …'}</span>
}
