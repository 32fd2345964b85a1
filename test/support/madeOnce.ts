import { existsSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { hasCode } from '../../src/protocol/errors.ts'
import { lockFile } from '../../packages/stores/src/lockFile.ts'

/** Milliseconds between two looks at whether another process has finished. */
const everyMs = 100

/**
 * Makes the files at a path once: the first caller, in this process or another, makes them while the others wait, because making them costs
 * more than using them. If it fails, the next one tries. Rejects as `make` does, and with an `AbortError` when `signal` aborts.
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
