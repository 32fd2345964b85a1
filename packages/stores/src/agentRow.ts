import type { LogEntry, LogOrigin } from '../../../src/protocol/ports/logPages.ts'
import type { Metadata } from '../../../src/protocol/metadata.ts'

/** A row of the agents table, in any database. */
export type AgentRow = Readonly<Record<string, unknown>>

/** Returns the origin of an agent from its row. */
export function placeIn(row: AgentRow): Pick<LogOrigin, 'path' | 'forkedFrom' | 'metadata'> {
  const { path, forked_from: forkedFrom, metadata } = row
  return {
    path: typeof path === 'string' ? (JSON.parse(path) as readonly string[]) : [],
    ...(typeof forkedFrom === 'string' ? { forkedFrom } : {}),
    ...(typeof metadata === 'string' ? { metadata: JSON.parse(metadata) as Metadata } : {}),
  }
}

/** Returns an agent's entry in a list, from its row. */
export function entryIn(row: AgentRow): LogEntry {
  const createdAt = row['created_at'] ?? null
  return {
    id: String(row['id']),
    size: Number(row['last_seq']),
    writtenAt: Number(row['written_at']),
    origin:
      createdAt === null
        ? undefined
        : { definition: String(row['definition']), createdAt: Number(createdAt), ...placeIn(row) },
  }
}
