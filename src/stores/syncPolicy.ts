import { z } from 'zod'
import { systemClock } from '../protocol/clock.ts'
import type { Clock } from '../protocol/clock.ts'
import { describeIssues, RuntimeError } from '../protocol/errors.ts'
import { QuickWrites } from './quickWrites.ts'
import { SyncRounds } from './syncRounds.ts'

const isClock = (value: unknown): value is Clock =>
  typeof value === 'object' &&
  value !== null &&
  ['now', 'after'].every((name) => typeof (value as { [name: string]: unknown })[name] === 'function')

const syncPolicySchema = z.strictObject({
  durability: z.enum(['os', 'batch', 'each']).default('os'),
  batchMs: z.number().min(0).max(60_000).default(10),
  clock: z.custom<Clock>(isClock, 'expected a Clock').default(systemClock),
})

/** When appends count as stored, and the state that a store's files share for this. */
export interface SyncPolicy {
  readonly durability: 'os' | 'batch' | 'each'
  /** Of `os`. */
  readonly quick: QuickWrites
  /** Of `batch`. */
  readonly rounds: SyncRounds
}

export interface FileStoreOptions {
  /**
   * What an append waits for. `os` (default): the operating system has the record, which survives `kill -9` but not a power cut.
   * `batch`: an fdatasync that covers the record has finished; it starts at once if none is in progress, otherwise it is shared by
   * all appends waiting by then. `each`: the same, with one fdatasync per write.
   */
  readonly durability?: 'os' | 'batch' | 'each'
  /** With `batch`: how long a write may wait for other logs' fdatasyncs before its own, in milliseconds, 0 to 60,000. Default: 10. */
  readonly batchMs?: number
  /** Measures `batchMs` and how long writes take. Default: the system's clock. */
  readonly clock?: Clock
}

/**
 * Returns the policy for these options.
 *
 * @throws RuntimeError `INVALID_OPTION`, naming the option.
 */
export function syncPolicy(options: FileStoreOptions = {}): SyncPolicy {
  const policy = syncPolicySchema.safeParse(options)
  if (!policy.success)
    throw new RuntimeError('INVALID_OPTION', `fileStore was given a wrong option: ${describeIssues(policy.error)}.`)
  const { durability, batchMs, clock } = policy.data
  return { durability, quick: new QuickWrites(clock), rounds: new SyncRounds(clock, batchMs) }
}
