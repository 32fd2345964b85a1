import type { CliHost } from './cliHost.ts'

const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Calls `handle` for every request to stop; returns a function that lets the process end as usual again. */
export function onStopSignal(host: CliHost, handle: () => void): () => void {
  for (const name of names) host.on(name, handle)
  return () => {
    for (const name of names) host.off(name, handle)
  }
}
