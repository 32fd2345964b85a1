import { z } from 'zod'
import { onlyFields } from '../checks/onlyFields.ts'
import { checkedBy, RuntimeError } from '../errors.ts'
import { lazily } from '../lazily.ts'
import type { MemoryTier } from '../remembered.ts'

export type { MemoryTier } from '../remembered.ts'

/** A tier and its owner: `user:42`. A search never finds anything in other scopes. */
export type MemoryScope = `${MemoryTier}:${string}`

/** Maximum number of characters of one text: a memory is a few sentences, not a document. */
export const maxMemoryChars = 4_000
/** Maximum number of conversations that are noted as confirming a record. */
const maxConfirmations = 8
/** Number of conversations that must confirm a lesson before the model sees it without a person's approval. */
const confirmationsNeeded = 2

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
    /** `lesson`: learnt from an abandoned branch. It counts once it is confirmed. `episode`: what was asked and done in one run. */
    kind: z.enum(['fact', 'lesson', 'episode']),
    text: text(maxMemoryChars),
    /** Origin of the record. */
    source: onlyFields({
      by: z.enum(['person', 'model', 'extraction', 'revert']),
      agentId: z.string().max(256).exactOptional(),
      runId: z.string().max(300).exactOptional(),
    }),
    /** True if it may repeat the output of a tool. The model never sees it as known before a person approves it. */
    tainted: z.boolean(),
    /** Conversations that led to the same record, by the ids of their agents. Tainted sources are not counted. */
    confirmations: z.array(z.string().max(300)).max(maxConfirmations).readonly(),
    /** True if a person vouches for it. */
    approved: z.boolean(),
    /** Time in milliseconds since the Unix epoch. */
    createdAt: time(),
    updatedAt: time(),
  }),
)
export type MemoryRecord = z.infer<ReturnType<typeof memorySchema>>

/** Filter of records. Every given field must hold. */
export interface MemoryFilter {
  readonly scopes?: readonly MemoryScope[]
  /** Only trusted records: see `isTrusted`. */
  readonly trusted?: boolean
  /** Maximum number of records to return. */
  readonly limit?: number
}

/** Filter of records to delete. Every given field must hold, and at least one must be given. */
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
 * Knowledge of agents beyond one conversation. Contract: `put` merges with the record of the same scope and id by `mergeMemory`, also when several
 * processes do so at once, and resolves to the kept record once it is durable. It is idempotent. `search` takes any text without operators and finds
 * records with at least one of its words, ignoring case and accents, the best first; a text without words finds nothing. `list` returns the most
 * recently changed records first. `delete` resolves to the number of deleted records; for a whole scope, it also deletes entries that cannot be read
 * as a record. Every later call, in other processes too, sees a resolved change. All reject with a `RuntimeError`: `MEMORY_INVALID` for invalid
 * arguments, `MEMORY_FAILED` when the memory cannot be read or written.
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

/**
 * Returns true if the model may see a record as known. Either a person vouches for it, or it does not come from the output of tools and, for a
 * lesson, two conversations led to it.
 */
export const isTrusted = ({ kind, tainted, approved, confirmations }: MemoryRecord): boolean =>
  approved || (!tainted && (kind !== 'lesson' || confirmations.length >= confirmationsNeeded))

/** Merges a record with the existing one. Keeps the more trusted text, else the newer one, and all conversations that led to it. Idempotent. Pure. */
export function mergeMemory(known: MemoryRecord | undefined, put: MemoryRecord): MemoryRecord {
  const confirmations = put.tainted ? [] : put.confirmations
  if (known === undefined) return { ...put, confirmations }
  const staysAsItIs = (known.approved && !put.approved) || (put.tainted && !known.tainted && !put.approved)
  const { kind, text: said, source } = staysAsItIs ? known : put
  // Who came to a tainted text did not come to this one.
  const before = known.tainted && !put.tainted && said !== known.text ? [] : known.confirmations
  return {
    ...put,
    kind,
    text: said,
    source,
    tainted: known.tainted && put.tainted,
    confirmations: [...new Set([...before, ...confirmations])].slice(0, maxConfirmations),
    approved: known.approved || put.approved,
    createdAt: Math.min(known.createdAt, put.createdAt),
    updatedAt: Math.max(known.updatedAt, put.updatedAt),
  }
}

const invalid = (message: string): RuntimeError => new RuntimeError('MEMORY_INVALID', message)

/** Checks a record. @throws RuntimeError `MEMORY_INVALID` */
export function checkedMemory(record: unknown): MemoryRecord {
  return checkedBy(memorySchema(), record, 'The memory is refused', 'MEMORY_INVALID')
}

/** Checks a filter and a query. @throws RuntimeError `MEMORY_INVALID` */
export function checkFilter(filter: MemoryFilter, query: unknown = ''): void {
  const { scopes, limit } = filter
  if (typeof query !== 'string') throw invalid('The query is no text.')
  const wrong = scopes?.find((scope) => !isMemoryScope(scope))
  if (wrong !== undefined) throw invalid(`${JSON.stringify(wrong)} is no scope: use agent:<name>, user:<id> …`)
  if (limit !== undefined && !(Number.isInteger(limit) && limit > 0)) throw invalid('The limit is no whole number.')
}

/** Checks a deletion. @throws RuntimeError `MEMORY_INVALID` */
export function checkDeletion({ scope, id, agentId }: MemoryDeletion): void {
  if ((scope ?? id ?? agentId) === undefined) throw invalid('Deleting needs a scope, an id or an agentId.')
  checkFilter(scope === undefined ? {} : { scopes: [scope] })
}

/** Returns true if a record matches a filter. */
export const fitsFilter = (record: MemoryRecord, { scopes, trusted }: MemoryFilter): boolean =>
  (scopes === undefined || scopes.includes(record.scope)) && (trusted !== true || isTrusted(record))

/** Returns true if a record is to be deleted. */
export const fitsDeletion = (record: MemoryRecord, { scope, id, agentId }: MemoryDeletion): boolean =>
  (scope === undefined || record.scope === scope) &&
  (id === undefined || record.id === id) &&
  (agentId === undefined || record.source.agentId === agentId)
