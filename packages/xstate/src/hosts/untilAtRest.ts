import type { HostedLife } from './durable.ts'

/** A machine that `untilAtRest` can wait for. */
export interface Restless {
  readonly isBusy: boolean
  /** Resolves when the machine's activity may have changed. */
  readonly changed: Promise<void>
  readonly lives: Iterable<HostedLife>
}

/** Resolves once the machine does nothing more by itself. Rejects with the reason of `signal`. */
export async function untilAtRest(machine: Restless, signal: AbortSignal | undefined): Promise<void> {
  const aborted = Promise.withResolvers<never>()
  aborted.promise.catch(() => {})
  const abort = (): void => aborted.reject(signal?.reason)
  signal?.throwIfAborted()
  signal?.addEventListener('abort', abort)
  try {
    while (machine.isBusy) {
      const { changed } = machine
      const lives = [...machine.lives].flatMap((life) => (life.isBusy ? [life.settled()] : []))
      await Promise.race([changed, aborted.promise, ...lives])
      // Whatever an agent does next follows in this turn of the loop of events.
      await new Promise((resolve) => setImmediate(resolve))
    }
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}
