import { promisify } from 'node:util'
import { deflateRaw } from 'node:zlib'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { lineOf, NamedKept, type ExportLine, type KeptLine } from '../../../sessions/src/exportLines.ts'
import { summaryOf } from '../../../sessions/src/listSessions.ts'
import { allLogs, pagesOf } from '../../../stores/src/logPages.ts'
import { historyParts, readPart, type HistoryPart } from '../../../../src/log/readHistory.ts'
import { SessionProjection } from '../../../sessions/src/sessionProjection.ts'
import { originIn } from '../../../stores/src/rules/logPages.ts'
import { pagesVersion, type CutLog, type PackedSession, type PageFile, type PageLog } from './sessionFile.ts'

/** Limits of one session in a page, in bytes before compression. */
export interface PackLimits {
  /** Maximum bytes of the session's records. Further records are left out, and the page says so. Default 48 MiB. */
  readonly recordBytes?: number
  /** Maximum bytes of the session's artifacts, which results keep beside the log. Default 16 MiB. */
  readonly keptBytes?: number
}

const mebibyte = 1024 * 1024
const usual: Required<PackLimits> = { recordBytes: 48 * mebibyte, keptBytes: 16 * mebibyte }

/** A session ready to stand beside a page. */
interface Packed {
  readonly entry: Omit<PageFile, 'file'>
  readonly packed: PackedSession
}

/** Collects lines as long as there is room. */
class Lines {
  readonly #most: number
  readonly #parts: Buffer[] = []
  #bytes = 0
  #isClosed = false

  constructor(most: number) {
    this.#most = most
  }

  /** Refuses all further lines: a log with a gap cannot be shown beyond it. */
  close(): void {
    this.#isClosed = true
  }

  /** Adds a line. Returns false if there is no room for it. */
  add(value: ExportLine | KeptLine): boolean {
    const line = Buffer.from(lineOf(value))
    if (this.#isClosed || this.#bytes + line.length > this.#most) return false
    this.#parts.push(line)
    this.#bytes += line.length
    return true
  }

  get parts(): readonly Buffer[] {
    return this.#parts
  }
}

/**
 * Packs a session with its sub-agents, and for a fork the past that it shares, for a page. The root's log comes first: in a session that is
 * too large, logs are cut off where the room ends.
 *
 * @throws RuntimeError `INVALID_ID`, `AGENT_NOT_FOUND`, `LOG_CORRUPT`, `LOG_VERSION`, `STORE_READ_FAILED`
 */
export async function packSession(store: Store, root: string, limits: PackLimits = {}): Promise<Packed> {
  const { recordBytes, keptBytes } = { ...usual, ...limits }
  const lines = new Lines(recordBytes)
  const logs: PageLog[] = []
  const cut: CutLog[] = []
  const named = new NamedKept()
  for (const { part, isPast } of await partsOf(store, root)) {
    const { log, all } = await addLog(store, part, lines, named)
    if (log !== undefined) logs.push(isPast ? { ...log, isPast } : log)
    const kept = log?.size ?? 0
    if (kept < all) cut.push({ agentId: part.agentId, kept, all })
  }
  const beside = new Lines(keptBytes)
  let leftOut = 0
  for await (const line of named.kept(store)) if (!beside.add(line)) leftOut += 1
  const bytes = await promisify(deflateRaw)(Buffer.concat([...lines.parts, ...beside.parts]))
  return {
    entry: { root, logs, ...(cut.length === 0 ? {} : { cut }), ...(leftOut === 0 ? {} : { leftOut }) },
    packed: { version: pagesVersion, root, data: bytes.toString('base64') },
  }
}

interface Part {
  readonly part: HistoryPart
  readonly isPast?: true
}

/** Returns the logs of a tree, the root's first, and then those that any of them was forked from. */
async function partsOf(store: Store, root: string): Promise<readonly Part[]> {
  const ids = new Set([root])
  for await (const { id } of allLogs(pagesOf(store), { within: [root] })) ids.add(id)
  const parts: Part[] = []
  const past = new Map<string, Part>()
  const children = [...ids].filter((id) => id !== root).toSorted()
  for (const id of [root, ...children]) {
    const history = await historyParts(store, id)
    parts.push({ part: history.at(-1)! })
    for (const part of history.slice(0, -1)) {
      const known = past.get(part.agentId)
      if (!ids.has(part.agentId) && (known?.part.upTo ?? 0) < part.upTo) past.set(part.agentId, { part, isPast: true })
    }
  }
  return [...parts, ...past.values()]
}

/** Adds the records of a log as far as there is room. `all`: number of the log's records. */
async function addLog(
  store: Store,
  part: HistoryPart,
  lines: Lines,
  named: NamedKept,
): Promise<{ readonly log?: PageLog; readonly all: number }> {
  const { agentId } = part
  const projection = new SessionProjection()
  let first: LogRecord | undefined
  let last: LogRecord | undefined
  let all = 0
  for await (const record of readPart(store, part)) {
    all += 1
    if (!lines.add({ agentId, record })) {
      lines.close()
      continue
    }
    first ??= record
    last = record
    projection.apply(record)
    named.apply(record)
  }
  if (last === undefined) {
    if (all > 0) return { all }
    throw new RuntimeError('AGENT_NOT_FOUND', `There is no log of agent "${agentId}" in this store.`)
  }
  const origin = originIn(first)
  const summary = { ...summaryOf(projection.session), id: agentId }
  return { log: { id: agentId, size: last.seq, writtenAt: last.time, ...(origin && { origin }), summary }, all }
}
