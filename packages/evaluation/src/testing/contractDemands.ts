import { isDeepStrictEqual } from 'node:util'
import { type ErrorCode, messageOf } from '../../../../src/protocol/errors.ts'
import { type LogRecord, recordVersion } from '../../../../src/protocol/records.ts'
import type { Store, StoreLease } from '../../../../src/protocol/ports/store.ts'

const awkwardText = 'two\nlines, "quotes", \\, \u0000, \u2028, é, 漢, 🙂'

const recordAt = (seq: number): LogRecord => {
  const inTurn = { v: recordVersion, seq, time: 1_700_000_000_000 + seq, runId: 'run', turnIndex: seq } as const
  if (seq % 3 === 1) return { ...inTurn, type: 'turn.start' }
  if (seq % 3 === 2)
    return {
      ...inTurn,
      type: 'message.added',
      nodeId: seq,
      parentId: null,
      message: { role: 'user', source: 'prompt', content: [{ type: 'text', text: `${seq} ${awkwardText}` }] },
    }
  const input = { path: 'a.ts', depth: seq, nested: [null, true, { text: awkwardText }] }
  return { ...inTurn, type: 'tool.start', callId: `call${seq}`, key: `key${seq}`, name: 'read_file', input }
}

/** Valid records with the seqs `from` to `to`, of several types, with text that a careless format would break. */
export const recordsBetween = (from: number, to: number): LogRecord[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => recordAt(from + index))

/** Reads a log to its end. */
export async function readAll(store: Store, agentId: string, fromSeq?: number, limit?: number): Promise<LogRecord[]> {
  const records: LogRecord[] = []
  for await (const record of store.read(agentId, fromSeq, limit)) records.push(record)
  return records
}

/** Returns the promise itself, which may then fail before it is awaited: a rejection by a broken store must not go unhandled. */
export function owned<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined)
  return work
}

/** Throws when the condition does not hold; `rule` is a sentence on what a store must do. */
export function demand(condition: boolean, rule: string): asserts condition {
  if (!condition) throw new Error(`The store breaks its contract: ${rule}`)
}

/** Throws unless both are deeply equal, and shows the start of each. */
export function demandEqual(actual: unknown, expected: unknown, rule: string): void {
  if (isDeepStrictEqual(actual, expected)) return
  const show = (value: unknown): string => (JSON.stringify(value) ?? 'undefined').slice(0, 500)
  demand(false, `${rule}\n  expected ${show(expected)}\n  got      ${show(actual)}`)
}

/** Throws unless the log holds exactly the records `from` to `to`. */
export async function demandLog(store: Store, agentId: string, last: number, rule: string): Promise<void> {
  const records = await readAll(store, agentId)
  const seqs = records.map(({ seq }) => seq)
  demandEqual(
    seqs,
    Array.from({ length: last }, (_, index) => index + 1),
    rule,
  )
  demandEqual(records, recordsBetween(1, last), `${rule} (the records differ from the ones appended)`)
}

/** Throws unless `work` rejects with an error of this code. */
export async function demandRejection(code: ErrorCode, work: () => Promise<unknown>, rule: string): Promise<void> {
  let thrown: unknown
  try {
    await work()
  } catch (error) {
    thrown = error
  }
  demand(thrown !== undefined, `${rule} (expected a rejection with ${code}, but it resolved)`)
  const seen = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
  demand(seen === code, `${rule} (expected ${code}, got ${String(seen)}: ${messageOf(thrown)})`)
}

/** Checks of one store, by name. */
export type Checks = { readonly [name: string]: (store: Store) => Promise<void> }

/** Checks of two stores over the same data, by name. */
export type ReopenChecks = {
  readonly [name: string]: (store: Store, reopen: () => Promise<Store>) => Promise<void>
}

/** Opens a log and appends the records up to `last`, the first time. */
export async function openWith(store: Store, agentId: string, last: number): Promise<StoreLease> {
  const lease = await store.open(agentId)
  await store.append(agentId, recordsBetween(1, last))
  return lease
}
