import type { Clock } from '../protocol/ports/clock.ts'
import { hasCode, RuntimeError } from '../protocol/errors.ts'
import { pause } from '../protocol/ports/pause.ts'
import type { LeaseOptions, LogHolder, Store, StoreLease } from '../protocol/ports/store.ts'

/** Options for opening a log that another writer may have. */
export interface LeaseWait extends LeaseOptions {
  /** Time to wait for the log, in milliseconds. Default 0. */
  readonly wait?: number | undefined
  /** Signal that ends the wait. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Milliseconds between attempts to open a log: at first, and after a while. `others`: number of retries if the holder
 * had released the log by the time the store was asked about it.
 */
const again = { first: 20, last: 250, others: 3 } as const

/** Functions of the runtime that opens the log. */
interface Opener {
  readonly clock: Clock
  /** Throws once no more logs may be opened. */
  checkOpen(): void
}

/**
 * Opens a log, once its holder has released it or is gone. Rejects with the store's errors, but with `AGENT_ELSEWHERE`
 * instead of `STORE_LOCKED` if the store knows of another process that has the log, or with the signal's reason.
 */
export async function openLease(
  store: Store,
  agentId: string,
  { takeOver, wait = 0, signal }: LeaseWait,
  opener: Opener,
): Promise<StoreLease> {
  const { clock } = opener
  const until = clock.now() + wait
  let others = 0
  for (let waitMs: number = again.first; ; waitMs = Math.min(waitMs * 2, again.last)) {
    signal?.throwIfAborted()
    try {
      return await keptIf(opener, await store.open(agentId, { takeOver }))
    } catch (thrown) {
      opener.checkOpen()
      if (!hasCode(thrown, 'STORE_LOCKED')) throw thrown
      const left = until - clock.now()
      if (left <= 0) {
        const holder = await holderOf(store, agentId)
        // It may have become free since.
        if (holder !== 'nobody' || again.others <= others) throw elsewhere(agentId, holder) ?? thrown
        others += 1
      } else await pause(Math.min(waitMs, left), clock, signal)
      opener.checkOpen()
    }
  }
}

/** Returns a lease if the opener is still open. Otherwise releases the lease and throws. */
async function keptIf(opener: Opener, lease: StoreLease): Promise<StoreLease> {
  try {
    opener.checkOpen()
    return lease
  } catch (thrown) {
    await lease.release()
    throw thrown
  }
}

/** Returns the holder of a log; `undefined` if the store does not say. */
async function holderOf(store: Store, agentId: string): Promise<LogHolder | 'nobody' | undefined> {
  if (store.holder === undefined) return undefined
  try {
    return (await store.holder(agentId)) ?? 'nobody'
  } catch {
    return undefined
  }
}

/** Returns the error for an agent that another process has; `undefined` if no such process is known. */
function elsewhere(agentId: string, holder: LogHolder | 'nobody' | undefined): RuntimeError | undefined {
  if (holder === undefined || holder === 'nobody' || holder.isHere) return undefined
  const { url, epoch, words } = holder
  return new RuntimeError('AGENT_ELSEWHERE', `Agent "${agentId}" is open elsewhere, in ${words}.`, {
    data: { ...(url === undefined ? {} : { url }), ...(epoch === undefined ? {} : { epoch }) },
  })
}
