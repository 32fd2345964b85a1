import { z } from 'zod'
import { onlyFields } from '../checks/onlyFields.ts'
import { describeIssues, RuntimeError } from '../errors.ts'
import { lazily } from '../lazily.ts'
import type { MemoryTier } from '../remembered.ts'

export type { MemoryTier } from '../remembered.ts'

/** A tier and whose it is: `user:42`. Nothing is ever found in a scope that was not asked for. */
export type MemoryScope = `${MemoryTier}:${string}`

/** Most characters of one text: a memory is a sentence or a few, not a document. */
export const maxMemoryChars = 4_000
/** Most conversations that are noted as confirming a record. */
const maxConfirmations = 8
/** Number of conversations that must have come to a lesson before it is put before the model without a person's word. */
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
    /** Unique in its scope. */
    id: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'use 1 to 64 letters, digits, "_" or "-"'),
    scope: z.custom<MemoryScope>(isMemoryScope, 'use agent:<name>, user:<id> or workspace:<name>'),
    /** `lesson`: learnt from a branch that a revert gave up; it counts once it was confirmed. */
    kind: z.enum(['fact', 'lesson']),
    text: text(maxMemoryChars),
    /** Origin of the record. */
    source: onlyFields({
      by: z.enum(['person', 'model', 'extraction', 'revert']),
      agentId: z.string().max(256).exactOptional(),
      runId: z.string().max(300).exactOptional(),
    }),
    /** True if it may repeat the output of a tool: never put before the model as something known, until a person approves it. */
    tainted: z.boolean(),
    /** Conversations that came to the same record, by the ids of their agents; tainted sources are not counted. */
    confirmations: z.array(z.string().max(300)).max(maxConfirmations).readonly(),
    /** True if a person vouches for it. */
    approved: z.boolean(),
    /** Milliseconds since the Unix epoch. */
    createdAt: time(),
    updatedAt: time(),
  }),
)
export type MemoryRecord = z.infer<ReturnType<typeof memorySchema>>

/** Filter of records: those for which every given field holds. */
export interface MemoryFilter {
  readonly scopes?: readonly MemoryScope[]
  /** Only records that count: see `isTrusted`. */
  readonly trusted?: boolean
  /** Most records to return. */
  readonly limit?: number
}

/** Records to delete: those for which every given field holds. At least one field must be given. */
export interface MemoryDeletion {
  readonly scope?: MemoryScope
  readonly id?: string
  /** Only records whose source is a session of this agent. */
  readonly agentId?: string
}

/** An entry in a memory that is no record, such as a section that was edited by hand. It is kept as it is until its scope is deleted. */
export interface MemoryProblem {
  /** The file, with the line where it begins. */
  readonly place: string
  /** The fault, in one line. */
  readonly problem: string
}

/**
 * Knowledge of agents beyond one conversation.
 *
 * Contract: `put` merges with the record of the same scope and id as `mergeMemory` says, also when several processes do it at once, and resolves to
 * the kept record once that is durable; doing it again changes nothing. `search` takes any text, in which nothing is an operator, and finds records
 * with at least one of its words, whatever their case and accents, the best first; a text without words finds nothing. `list` gives the records that
 * changed last first. `delete` resolves to the number of deleted records; for a whole scope, it also deletes entries that cannot be read as a record.
 * Every later call, of other processes too, sees a resolved change. All reject with a `RuntimeError`: `MEMORY_INVALID` for arguments that are
 * refused, `MEMORY_FAILED` when it cannot be read or written.
 */
export interface Memory {
  put(record: MemoryRecord): Promise<MemoryRecord>
  search(query: string, filter?: MemoryFilter): Promise<readonly MemoryRecord[]>
  list(filter?: MemoryFilter): Promise<readonly MemoryRecord[]>
  delete(which: MemoryDeletion): Promise<number>
  /** Returns the entries that are no records. */
  problems?(): Promise<readonly MemoryProblem[]>
}

/** Returns true if a value has the methods of a `Memory`. */
export const isMemory = (value: unknown): value is Memory =>
  typeof value === 'object' &&
  value !== null &&
  ['put', 'search', 'list', 'delete'].every((name) => typeof Reflect.get(value, name) === 'function')

/**
 * Returns true if a record may be put before the model as something known: a person vouches for it, or it does not come from the output of tools,
 * and, if it is a lesson, two conversations came to it.
 */
export const isTrusted = ({ kind, tainted, approved, confirmations }: MemoryRecord): boolean =>
  approved || (!tainted && (kind !== 'lesson' || confirmations.length >= confirmationsNeeded))

/**
 * Merges a record with the one that is there already: keeps the more trusted text, else the newer, and every conversation that came to it. Putting
 * the same record twice changes nothing. Pure.
 */
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
  const checked = memorySchema().safeParse(record)
  if (checked.success) return checked.data
  throw invalid(`The memory is refused: ${describeIssues(checked.error)}.`)
}

/** @throws RuntimeError `MEMORY_INVALID` */
export function checkFilter(filter: MemoryFilter, query: unknown = ''): void {
  const { scopes, limit } = filter
  if (typeof query !== 'string') throw invalid('The query is no text.')
  const wrong = scopes?.find((scope) => !isMemoryScope(scope))
  if (wrong !== undefined) throw invalid(`${JSON.stringify(wrong)} is no scope: use agent:<name>, user:<id> …`)
  if (limit !== undefined && !(Number.isInteger(limit) && limit > 0)) throw invalid('The limit is no whole number.')
}

/** @throws RuntimeError `MEMORY_INVALID` */
export function checkDeletion({ scope, id, agentId }: MemoryDeletion): void {
  if ((scope ?? id ?? agentId) === undefined) throw invalid('Deleting needs a scope, an id or an agentId.')
  checkFilter(scope === undefined ? {} : { scopes: [scope] })
}

/** Returns true if a record fits a filter. */
export const fitsFilter = (record: MemoryRecord, { scopes, trusted }: MemoryFilter): boolean =>
  (scopes === undefined || scopes.includes(record.scope)) && (trusted !== true || isTrusted(record))

/** Returns true if a record is to be deleted. */
export const fitsDeletion = (record: MemoryRecord, { scope, id, agentId }: MemoryDeletion): boolean =>
  (scope === undefined || record.scope === scope) &&
  (id === undefined || record.id === id) &&
  (agentId === undefined || record.source.agentId === agentId)
