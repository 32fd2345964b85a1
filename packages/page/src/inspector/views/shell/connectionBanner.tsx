import { useRef } from 'preact/hooks'
import type { Clock } from '../../../../../../src/protocol/ports/clock.ts'
import type { Connection } from '../../model/agent/connection.ts'
import { Icon } from '../../parts/icon.tsx'
import { useNow } from '../../parts/useNow.ts'

interface Props {
  readonly connection: Connection
  readonly clock: Clock
}

/** Banner that says that there is no connection, and when the next attempt is. The page stays as it is. */
export function ConnectionBanner({ connection, clock }: Props) {
  const status = connection.status.value
  return status === 'connecting' || status === 'reconnecting' ? <Lost connection={connection} clock={clock} /> : null
}

function Lost({ connection, clock }: Props) {
  const now = useNow(clock, 250)
  const { retryAt } = connection.client
  const wasThere = connection.status.value === 'reconnecting'
  // The first attempt is not worth a banner until it fails.
  const hasFailed = useRef(false)
  hasFailed.current ||= wasThere || retryAt !== undefined
  if (!hasFailed.current) return null
  const seconds = Math.ceil(((retryAt ?? now) - now) / 1_000)
  return (
    <section class="banner warn" aria-label="Connection">
      <Icon name="warning" />
      <span class="grow">
        <strong>{wasThere ? 'Connection lost.' : 'The server is not responding.'}</strong>{' '}
        {wasThere ? 'The page may be out of date. ' : `Address: ${connection.url}. `}
        <span class="number">{seconds > 0 ? `Retrying in ${seconds} s.` : 'Connecting…'}</span>
      </span>
    </section>
  )
}
