import type { HostView } from '../../../../../bridge/src/client/index.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { usePolled } from '../../parts/usePolled.ts'

/** Interval at which the server is asked again, in milliseconds. */
const againMs = 2_000

/** Returns the server's machines. Empty for a token that may not see all, and if the server has no such list. */
export function useHosts({ attached, clock }: Inspector): readonly HostView[] {
  const { connection } = attached.value
  const mayAsk = connection.status.value === 'open' && connection.may.value('see.all')
  return usePolled(clock, mayAsk ? connection.client : null, {
    ask: (client) => client.hosts(),
    againMs: () => againMs,
  })
}
