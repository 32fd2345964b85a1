import { existsSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { hasCode } from '../../src/protocol/errors.ts'
import { lockFile } from '../../src/stores/lockFile.ts'

/** How often a process looks whether another has made what it waits for. */
const everyMs = 100

/**
 * Has what is at a path made by whoever asks for it first, in this process or another, while the others wait: it costs more than all that is done with
 * it. One that failed is followed by the next. Rejects with whatever `make` does, and with an `AbortError` when `signal` aborts.
 */
export async function madeOnce(path: string, make: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  for (;;) {
    const lock = await lockFile(`${path}.lock`).catch((thrown: unknown) => {
      if (!hasCode(thrown, 'STORE_LOCKED')) throw thrown
    })
    if (lock === undefined) {
      await setTimeout(everyMs, undefined, { signal })
      continue
    }
    try {
      if (!existsSync(path)) await make()
      return
    } finally {
      await lock.release()
    }
  }
}
