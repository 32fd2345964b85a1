import type { Failure } from './runCase.ts'

let found: Failure[] = []

/** Keeps uncaught errors from ending the process: each is kept for the case, or the file, in which it happened. */
export function listenForStrays(): void {
  process.on('unhandledRejection', (thrown) => found.push({ during: 'unhandled rejection', thrown }))
  process.on('uncaughtException', (thrown) => found.push({ during: 'uncaught exception', thrown }))
}

/** Returns the failures since the last call. */
export function takeStrays(): readonly Failure[] {
  const taken = found
  found = []
  return taken
}
