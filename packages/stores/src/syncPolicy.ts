import { z } from 'zod'
import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import { systemClock, type Clock } from '../../../src/protocol/ports/clock.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import { optionsCheck } from '../../../src/protocol/checks/optionsCheck.ts'
import type { SnapshotLimits } from '../../../src/protocol/ports/snapshots.ts'
import { defaultSnapshotLimits } from './rules/snapshotLimits.ts'
import { QuickWrites } from './quickWrites.ts'

const isClock = (value: unknown): value is Clock =>
  typeof value === 'object' &&
  value !== null &&
  ['now', 'after'].every((name) => typeof (value as { [name: string]: unknown })[name] === 'function')

const limit = () => z.number().positive()

const checkOptions = optionsCheck(
  {},
  {
    durability: () => z.enum(['os', 'batch', 'each']),
    batchMs: () => z.number().min(0).max(60_000),
    clock: () => z.custom<Clock>(isClock, 'expected a Clock'),
    snapshots: () => onlyFields({ maxBytes: limit(), maxCount: limit(), maxFileBytes: limit() }).partial(),
  },
)

/** Policy for when appends count as stored, with the state shared by a store's files. */
export interface SyncPolicy {
  readonly durability: 'os' | 'batch' | 'each'
  /** Writes of `os`. */
  readonly quick: QuickWrites
  /** Shared syncs for `batch`. */
  readonly rounds: SyncRounds
  readonly snapshots: SnapshotLimits
}

export interface FileStoreOptions {
  /**
   * Point at which an append counts as stored. `os` (default): the operating system has the record, which survives `kill -9` but not a
   * power cut. `batch`: an fdatasync that covers the record has finished; it starts at once if none is in progress, otherwise it is shared
   * by all appends waiting by then. `each`: the same, with one fdatasync per write.
   */
  readonly durability?: 'os' | 'batch' | 'each'
  /** With `batch`: how long a write may wait for other logs' fdatasyncs before its own, in milliseconds, 0 to 60,000. Default: 10. */
  readonly batchMs?: number
  /** Clock for `batchMs` and for the duration of writes. Default: the system's clock. */
  readonly clock?: Clock
  /**
   * Limits on the kept contents of files that one agent changed, for `undo`: see `workspaceTools`. Default: 256 MiB in all, 10,000 contents, 16 MiB
   * for one. The oldest contents are removed first.
   */
  readonly snapshots?: Partial<SnapshotLimits>
}

/**
 * Returns the policy for these options.
 *
 * @throws RuntimeError `INVALID_OPTION`, naming the option.
 */
export function syncPolicy(options: FileStoreOptions = {}): SyncPolicy {
  const wrong = checkOptions(options)
  if (wrong !== undefined) throw new RuntimeError('INVALID_OPTION', `fileStore was given a wrong option: ${wrong}.`)
  const { durability = 'os', batchMs = 10, clock = systemClock } = options
  const given = Object.entries(options.snapshots ?? {}).filter(([, value]) => value !== undefined)
  const snapshots = { ...defaultSnapshotLimits, ...Object.fromEntries(given) }
  return { durability, quick: new QuickWrites(clock), rounds: new SyncRounds(clock, batchMs), snapshots }
}

/**
 * Schedules the syncs that the files of one store share. A file is synced at once if no sync is running. Files that ask meanwhile are synced together
 * as soon as it has ended, at most `batchMs` after they asked.
 */
export class SyncRounds {
  readonly #clock: Clock
  readonly #batchMs: number
  readonly #waiting = new Set<() => void>()
  #underWay = 0

  constructor(clock: Clock, batchMs: number) {
    this.#clock = clock
    this.#batchMs = batchMs
  }

  /** Calls `begin` when a file may be synced, perhaps before this returns. Returns a function that cancels it. */
  ask(begin: () => void): () => void {
    if (this.#underWay === 0) {
      begin()
      return () => {}
    }
    const forget = (): void => {
      cancelTimer()
      this.#waiting.delete(beginOnce)
    }
    const beginOnce = (): void => {
      forget()
      begin()
    }
    const cancelTimer = this.#clock.after(this.#batchMs, beginOnce)
    this.#waiting.add(beginOnce)
    return forget
  }

  /** Runs a sync. Rejects as it does. */
  async sync(work: () => Promise<void>): Promise<void> {
    this.#underWay += 1
    try {
      await work()
    } finally {
      this.#underWay -= 1
      if (this.#underWay === 0) for (const begin of this.#waiting) begin()
    }
  }
}
