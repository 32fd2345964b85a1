import type { CliHost } from './cliHost.ts'

const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const listening = new WeakMap<CliHost, Set<() => void>>()

/** Calls `handle` for every request to stop; returns a function that lets the process end as usual again. */
export function onStopSignal(host: CliHost, handle: () => void): () => void {
  const handles = listening.get(host) ?? new Set()
  listening.set(host, handles.add(handle))
  for (const name of names) host.on(name, handle)
  return () => {
    handles.delete(handle)
    for (const name of names) host.off(name, handle)
  }
}

/** Stops what is under way as a person would who wants to leave; false when nothing listens for that. */
export function stopForGood(host: CliHost): boolean {
  const handles = [...(listening.get(host) ?? [])]
  // Some stop the work first, and leave the second time.
  for (const handle of [...handles, ...handles]) handle()
  return handles.length > 0
}
