import type { Store } from '../../../src/protocol/ports/store.ts'
import { historyParts, readPart } from '../../../src/log/readHistory.ts'
import { z } from 'zod'
import { lazily } from '../../../src/protocol/lazily.ts'
import { agentIdSchema } from '../../../src/protocol/ids.ts'
import { exportVersion, headerLine, lineOf, NamedKept, type ExportLine } from './exportLines.ts'

/** First line of an exported session. */
export const exportHeaderSchema = lazily(() =>
  z.object({
    format: z.literal('escapement.session'),
    version: z.union([z.literal(1), z.literal(exportVersion)]),
    agentId: agentIdSchema(),
    /** Agents whose records follow, in this order: the sources of the session from the oldest on, then the session itself. */
    agents: z.array(agentIdSchema()).min(1),
  }),
)
export type ExportHeader = z.infer<ReturnType<typeof exportHeaderSchema>>

/**
 * Returns a session as the lines of one JSONL file, each with its newline, for `importSession`. A fork begins with the part of its sources that it
 * shares. Artifacts that results name come last, if they are still kept. The log is read on demand, without a lease.
 * @throws RuntimeError `INVALID_ID`, `AGENT_NOT_FOUND`, `LOG_CORRUPT`, `LOG_VERSION`, `STORE_READ_FAILED`; the first three of these before the first
 * line, if the beginning of the log shows it.
 */
export async function* exportSession(store: Store, agentId: string): AsyncGenerator<string, void, undefined> {
  const parts = await historyParts(store, agentId)
  const agents = parts.map((part) => part.agentId)
  const kept = new NamedKept()
  yield headerLine(agentId, agents)
  for (const part of parts)
    for await (const record of readPart(store, part)) {
      kept.apply(record)
      yield lineOf({ agentId: part.agentId, record } satisfies ExportLine)
    }
  for await (const line of kept.lines(store)) yield lineOf(line)
}
