import type { CliHost } from './cliHost.ts'
import type { Clock } from '../../../src/protocol/ports/clock.ts'

const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const listening = new WeakMap<CliHost, Set<() => void>>()

/** Calls `handle` for every stop signal; returns a function that restores the default behaviour. */
export function onStopSignal(host: CliHost, handle: () => void): () => void {
  const handles = listening.get(host) ?? new Set()
  listening.set(host, handles.add(handle))
  for (const name of names) host.on(name, handle)
  return () => {
    handles.delete(handle)
    for (const name of names) host.off(name, handle)
  }
}

/** Stops the current work as repeated Ctrl-C would; returns false if no handler is registered. */
export function stopForGood(host: CliHost): boolean {
  const handles = [...(listening.get(host) ?? [])]
  // Some handlers stop the work first and exit the second time.
  for (const handle of [...handles, ...handles]) handle()
  return handles.length > 0
}

const withinMs = 2000

/** Returns a function to call at every Ctrl-C. It returns true if its last call was less than two seconds ago. */
export function doubleStop(clock: Clock): () => boolean {
  let last = -Infinity
  return () => {
    const isDouble = clock.now() - last < withinMs
    last = clock.now()
    return isDouble
  }
}

/** Resolves at the first request to stop. */
export const untilStopped = (host: CliHost): Promise<void> =>
  new Promise((resolve) => {
    const forget = onStopSignal(host, () => {
      forget()
      resolve()
    })
  })
