import type { Store } from '../protocol/store.ts'
import { exportVersion, type ExportHeader, type ExportLine } from './exportFormat.ts'
import { historyParts, readPart } from './readHistory.ts'

const lineOf = (value: ExportHeader | ExportLine): string => `${JSON.stringify(value)}\n`

/**
 * A session as the lines of one JSONL file, each with its newline, for `importSession`. Of a fork the part of its sources that it
 * shares comes first. Reads as it goes, and needs no lease.
 *
 * @throws RuntimeError `INVALID_ID`, `AGENT_NOT_FOUND`, `LOG_CORRUPT`, `LOG_VERSION`, `STORE_READ_FAILED`; the first three of
 * these before the first line, where the log's beginning tells.
 */
export async function* exportSession(store: Store, agentId: string): AsyncGenerator<string, void, undefined> {
  const parts = await historyParts(store, agentId)
  const agents = parts.map((part) => part.agentId)
  yield lineOf({ format: 'escapement.session', version: exportVersion, agentId, agents })
  for (const part of parts)
    for await (const record of readPart(store, part)) yield lineOf({ agentId: part.agentId, record })
}
