import type { Artifact } from '../protocol/artifacts.ts'
import type { LogRecord } from '../protocol/records.ts'

/** The name that the first line of such a file gives itself. */
export const exportFormat = 'escapement.session'

/** Version of the file that `exportSession` makes; a newer one is refused. Version 1 had no artifacts. */
export const exportVersion = 2

/** A line after all records: an artifact that a result names, and the agent beside whose log it is kept. */
export interface ExportedArtifact {
  readonly agentId: string
  readonly artifact: Pick<Artifact, 'id'> &
    /** Base64. */
    ({ readonly data: string } | { readonly missing: true })
}

/** Every further line: a record, and whose log it stands in. */
export interface ExportLine {
  readonly agentId: string
  readonly record: LogRecord
}

/** The first line of an exported session. `agents`: whose records follow, the session itself last. */
export const headerLine = (agentId: string, agents: readonly string[]): string =>
  lineOf({ format: exportFormat, version: exportVersion, agentId, agents })

export const lineOf = (value: object): string => `${JSON.stringify(value)}\n`

/** The artifacts that a record names. */
export const artifactsOf = (record: LogRecord): readonly Artifact[] =>
  record.type === 'tool.end' ? (record.message.artifacts ?? []) : []
