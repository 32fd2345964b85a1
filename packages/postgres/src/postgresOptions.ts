import { z } from 'zod'
import type { Clock } from '../../../src/protocol/ports/clock.ts'
import { checkedBy } from '../../../src/protocol/errors.ts'
import { lazily } from '../../../src/protocol/lazily.ts'
import type { Logger } from '../../../src/protocol/ports/logger.ts'
import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import type { SnapshotLimits } from '../../../src/protocol/ports/snapshots.ts'

export interface PostgresStoreOptions {
  /** The schema with the tables, of its own; made if it is missing. Default: `escapement`. */
  readonly schema?: string
  /**
   * How long a log stays with a process that no longer reports that it is alive, in milliseconds from 100 on; it reports three times as
   * often. Only the database's clock counts. Default: 10,000.
   */
  readonly leaseMs?: number
  /** How many connections it makes, or takes of a pool that it was given. Default: 4. */
  readonly connections?: number
  /** How long an answer of the database is waited for, in milliseconds; longer for many bytes. Default: 5,000. */
  readonly queryTimeoutMs?: number
  /** How long a statement is tried again, in milliseconds, while the database or the way to it fails. Default: 30,000. */
  readonly retryMs?: number
  /**
   * Indexes the text of messages, a second behind the appends, so that `search` finds it. Without it appends cost less, and there is no
   * `search`. Default: true.
   */
  readonly search?: boolean
  /** Gets a line when the database cannot be reached, with why, and when it answers again. Default: none. */
  readonly logger?: Logger
  /** Measures pauses between tries and times of leases. Default: the system's clock. */
  readonly clock?: Clock
  /** How much is kept of the files that one agent changed, for `undo`. Default: as `fileStore`. */
  readonly snapshots?: Partial<SnapshotLimits>
}

const limit = lazily(() => z.number().positive())
const has =
  (...names: readonly string[]) =>
  (value: unknown): boolean =>
    typeof value === 'object' && value !== null && names.every((name) => name in value)
const optionsSchema = lazily(() =>
  onlyFields({
    schema: z
      .string()
      .regex(
        /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/,
        'a name of small letters, digits and underscores, 63 at most, not of PostgreSQL itself',
      ),
    leaseMs: z.number().min(100),
    connections: z.int().positive(),
    queryTimeoutMs: limit(),
    retryMs: z.number().nonnegative(),
    search: z.boolean(),
    logger: z.custom<Logger>(has('warn')),
    clock: z.custom<Clock>(has('now', 'after')),
    snapshots: onlyFields({ maxBytes: limit(), maxCount: limit(), maxFileBytes: limit() }).partial(),
  }).partial(),
)

/** @throws RuntimeError `INVALID_OPTION` */
export function checkPostgresOptions(options: PostgresStoreOptions): void {
  checkedBy(optionsSchema(), options, 'postgresStore was given a wrong option')
}
