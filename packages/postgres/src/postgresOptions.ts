import { z } from 'zod'
import type { Clock } from '../../../src/protocol/ports/clock.ts'
import { checkedBy } from '../../../src/protocol/errors.ts'
import { lazily } from '../../../src/protocol/lazily.ts'
import type { Logger } from '../../../src/protocol/ports/logger.ts'
import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import type { SnapshotLimits } from '../../../src/protocol/ports/snapshots.ts'

export interface PostgresStoreOptions {
  /** Schema for the store's tables, used by nothing else. Created if missing. Default: `escapement`. */
  readonly schema?: string
  /**
   * Time for which a log stays with a process that has stopped reporting, in milliseconds, at least 100. A process reports three times as
   * often. Only the database's clock counts. Default: 10,000.
   */
  readonly leaseMs?: number
  /** Maximum number of connections that the store opens, or uses in a given pool. Default: 4. */
  readonly connections?: number
  /** Time limit of a database answer in milliseconds, extended for large transfers. Default: 5,000. */
  readonly queryTimeoutMs?: number
  /** Time for which a statement is retried while the database or network fails, in milliseconds. Default: 30,000. */
  readonly retryMs?: number
  /**
   * True to index the text of messages, about a second after the append, for `search`. Without it appends cost less, and there is no
   * `search`. Default: true.
   */
  readonly search?: boolean
  /** Logger that gets a line with the reason when the database becomes unreachable, and one when it answers again. Default: none. */
  readonly logger?: Logger
  /** Clock for pauses between retries and for lease times. Default: the system's clock. */
  readonly clock?: Clock
  /** Limits on the kept contents of files that one agent changed, for `undo`. Default: as for `fileStore`. */
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
