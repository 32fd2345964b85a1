import { z } from 'zod'
import { onlyFields } from '../checks/onlyFields.ts'
import { lazily } from '../lazily.ts'
import type { MemoryTier } from '../remembered.ts'

export type { MemoryTier } from '../remembered.ts'

/** A tier and its owner: `user:42`. A search never finds anything in other scopes. */
export type MemoryScope = `${MemoryTier}:${string}`

/** Maximum number of characters of one text: a memory is a few sentences, not a document. */
export const maxMemoryChars = 4_000
/** Maximum number of conversations that are noted as confirming a record. */
export const maxConfirmations = 8

const scopePattern = lazily(() => /^(?:agent|user|workspace):(?!\s)[^\p{Cc}\p{Zl}\p{Zp}]{1,256}(?<!\s)$/u)

export const isMemoryScope = (value: unknown): value is MemoryScope =>
  typeof value === 'string' && value.isWellFormed() && scopePattern().test(value)

const text = (most: number) =>
  z
    .string()
    .max(most, `at most ${most} characters`)
    .refine((value) => value.trim() === value && value !== '', 'give text, without space around it')
    .refine(
      (value) => value.isWellFormed() && !/[\0\r]/.test(value),
      'give Unicode text without NUL, its lines ended by \\n',
    )
const time = lazily(() => z.number().nonnegative())

export const memorySchema = lazily(() =>
  onlyFields({
    /** Id, unique in its scope. */
    id: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'use 1 to 64 letters, digits, "_" or "-"'),
    scope: z.custom<MemoryScope>(isMemoryScope, 'use agent:<name>, user:<id> or workspace:<name>'),
    /** Kind of record. `lesson`: learned from an abandoned branch, and used only once confirmed. `episode`: the request and the work of one run. */
    kind: z.enum(['fact', 'lesson', 'episode']),
    text: text(maxMemoryChars),
    /** Origin of the record. */
    source: onlyFields({
      by: z.enum(['person', 'model', 'extraction', 'revert']),
      agentId: z.string().max(256).exactOptional(),
      runId: z.string().max(300).exactOptional(),
    }),
    /** True if the record may repeat a tool's output. The model is not given it as known until a person approves it. */
    tainted: z.boolean(),
    /** Conversations that led to the same record, by the ids of their agents. Tainted sources are not counted. */
    confirmations: z.array(z.string().max(300)).max(maxConfirmations).readonly(),
    /** True if a person vouches for the record. */
    approved: z.boolean(),
    /** Time in milliseconds since the Unix epoch. */
    createdAt: time(),
    updatedAt: time(),
  }),
)
export type MemoryRecord = z.infer<ReturnType<typeof memorySchema>>

/** Filter for records. All given fields must match. */
export interface MemoryFilter {
  readonly scopes?: readonly MemoryScope[]
  /** Only trusted records, as decided by `isTrusted` of `escapement/memory`. */
  readonly trusted?: boolean
  /** Maximum number of records to return. */
  readonly limit?: number
}

/** Filter for records to delete. All given fields must match, and at least one must be given. */
export interface MemoryDeletion {
  readonly scope?: MemoryScope
  readonly id?: string
  /** Only records whose source is a session of this agent. */
  readonly agentId?: string
}

/** An entry in a memory that is not a record, such as a section that was edited by hand. It is kept unchanged until its scope is deleted. */
export interface MemoryProblem {
  /** The file, with the line where it begins. */
  readonly place: string
  /** The fault, in one line. */
  readonly problem: string
}

/**
 * Knowledge of agents that outlasts a conversation. Contract: `put` merges with the record of the same scope and id by `mergeMemory`, also when
 * several processes do so concurrently, and resolves to the kept record once it is durable. It is idempotent. `search` takes any text without
 * operators and finds records with at least one of its words, ignoring case and accents, the best first. A text without words finds nothing. `list`
 * returns the most recently changed records first. `delete` resolves to the number of deleted records. For a whole scope, it also deletes entries
 * that cannot be read as a record. Every later call, in other processes too, sees a resolved change. All reject with a `RuntimeError`:
 * `MEMORY_INVALID` for invalid arguments, `MEMORY_FAILED` when the memory cannot be read or written.
 */
export interface Memory {
  put(record: MemoryRecord): Promise<MemoryRecord>
  search(query: string, filter?: MemoryFilter): Promise<readonly MemoryRecord[]>
  list(filter?: MemoryFilter): Promise<readonly MemoryRecord[]>
  delete(which: MemoryDeletion): Promise<number>
  /** Returns the entries that are not records. */
  problems?(): Promise<readonly MemoryProblem[]>
}

/** Returns true if a value has the methods of a `Memory`. */
export const isMemory = (value: unknown): value is Memory =>
  typeof value === 'object' &&
  value !== null &&
  ['put', 'search', 'list', 'delete'].every((name) => typeof Reflect.get(value, name) === 'function')
