import type { Clock } from '../protocol/clock.ts'

const withinMs = 2000

/** A function to call at every Ctrl-C: true when the last one was less than two seconds ago. */
export function doubleStop(clock: Clock): () => boolean {
  let last = -Infinity
  return () => {
    const isDouble = clock.now() - last < withinMs
    last = clock.now()
    return isDouble
  }
}
