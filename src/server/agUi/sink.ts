import type { Event } from '@ag-ui/core'

/** Where the events of one run go: the answer to a request, or a socket. */
export interface Sink {
  /** It takes no more for now: what is written anyway waits in memory. */
  readonly isFull: boolean
  write(event: Event): void
  /** Calls once, when what waits has left; only while it is full. */
  onDrain(call: () => void): void
  /** No more events come. */
  end(): void
}
