import type { Duplex } from 'node:stream'

/** Destroys each of two sockets once the other is closed, however that came about. */
export function endTogether(one: Duplex, other: Duplex): void {
  // An error is followed by the close.
  one.on('error', () => {}).on('close', () => other.destroy())
  other.on('error', () => {}).on('close', () => one.destroy())
}
