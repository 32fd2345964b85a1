import type { CliHost } from './cliHost.ts'
import { onStopSignal } from './signals.ts'

/** Resolves at the first request to stop. */
export const untilStopped = (host: CliHost): Promise<void> =>
  new Promise((resolve) => {
    const forget = onStopSignal(host, () => {
      forget()
      resolve()
    })
  })
