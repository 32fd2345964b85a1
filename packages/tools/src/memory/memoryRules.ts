import { checkedBy, RuntimeError } from '../../../../src/protocol/errors.ts'
import {
  isMemoryScope,
  maxConfirmations,
  memorySchema,
  type MemoryDeletion,
  type MemoryFilter,
  type MemoryRecord,
} from '../../../../src/protocol/ports/memory.ts'

/** Number of conversations that must confirm a lesson before the model sees it without a person's approval. */
const confirmationsNeeded = 2

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
