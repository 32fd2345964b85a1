import type { Store } from '../protocol/store.ts'
import { historyParts, readPart } from './readHistory.ts'
import { z } from 'zod'
import { agentIdSchema } from '../protocol/ids.ts'
import type { LogRecord } from '../protocol/records.ts'

/** Version of the file that `exportSession` makes; a newer one is refused. */
export const exportVersion = 1

/** First line of an exported session. */
export const exportHeaderSchema = z.object({
  format: z.literal('escapement.session'),
  version: z.literal(exportVersion),
  /** The session. */
  agentId: agentIdSchema,
  /** Whose records follow, in this order: the sources it was forked from, oldest first, then the session itself. */
  agents: z.array(agentIdSchema).min(1),
})
export type ExportHeader = z.infer<typeof exportHeaderSchema>

/** Every further line: a record, and whose log it stands in. */
export interface ExportLine {
  readonly agentId: string
  readonly record: LogRecord
}

const lineOf = (value: ExportHeader | ExportLine): string => `${JSON.stringify(value)}\n`

/**
 * A session as the lines of one JSONL file, each with its newline, for `importSession`. Of a fork the part of its sources that it
 * shares comes first. Reads as it goes, and needs no lease.
 *
 * @throws RuntimeError `INVALID_ID`, `AGENT_NOT_FOUND`, `LOG_CORRUPT`, `LOG_VERSION`, `STORE_READ_FAILED`; the first three of
 * these before the first line, if the beginning of the log shows it.
 */
export async function* exportSession(store: Store, agentId: string): AsyncGenerator<string, void, undefined> {
  const parts = await historyParts(store, agentId)
  const agents = parts.map((part) => part.agentId)
  yield lineOf({ format: 'escapement.session', version: exportVersion, agentId, agents })
  for (const part of parts)
    for await (const record of readPart(store, part)) yield lineOf({ agentId: part.agentId, record })
}
