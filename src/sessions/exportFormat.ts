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
