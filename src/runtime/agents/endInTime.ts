import type { Clock } from '../../protocol/ports/clock.ts'
import { messageOf } from '../../protocol/errors.ts'
import type { Logger } from '../../protocol/ports/logger.ts'

/** Maximum time to wait for something to close, in milliseconds. */
const closeMs = 10_000

export interface EndOptions {
  readonly clock: Clock
  readonly logger?: Logger | undefined
  /** Subject of a warning, such as `a source of tools`. */
  readonly what: string
  readonly fields: object
  readonly clean: (text: string) => string
}

/**
 * Closes something of the application, and waits up to 10 seconds. Never rejects: failures go to the logger. The
 * timer also keeps the process alive, because the thing being closed may itself wait for timers that do not.
 */
export async function endInTime(close: () => Promise<void>, options: EndOptions): Promise<void> {
  const { clock, logger, what, fields, clean } = options
  const { promise: late, resolve } = Promise.withResolvers<'late'>()
  const cancelTimer = clock.after(closeMs, () => resolve('late'))
  try {
    const ended = await Promise.race([close(), late])
    if (ended === 'late') logger?.warn(fields, `${what} did not close within ${closeMs} ms`)
  } catch (thrown) {
    logger?.warn({ ...fields, error: clean(messageOf(thrown)) }, `${what} could not be closed`)
  } finally {
    cancelTimer()
  }
}
