import type { Artifact } from '../protocol/artifacts.ts'
import type { LogRecord } from '../protocol/records.ts'

/** Format name in the first line of an exported file. */
export const exportFormat = 'escapement.session'

/** Version of the file that `exportSession` writes. A newer one is refused. Version 1 had no artifacts. */
export const exportVersion = 2

/** A line after all records: an artifact named by a result, and the agent whose log it is stored beside. */
export interface ExportedArtifact {
  readonly agentId: string
  readonly artifact: Pick<Artifact, 'id'> &
    /** Content as base64. */
    ({ readonly data: string } | { readonly missing: true })
}

/** Any further line: a record, and the agent whose log it belongs to. */
export interface ExportLine {
  readonly agentId: string
  readonly record: LogRecord
}

/** The first line of an exported session. `agents` lists the agents whose records follow, the session itself last. */
export const headerLine = (agentId: string, agents: readonly string[]): string =>
  lineOf({ format: exportFormat, version: exportVersion, agentId, agents })

export const lineOf = (value: object): string => `${JSON.stringify(value)}\n`

/** Returns the artifacts that a record names. */
export const artifactsOf = (record: LogRecord): readonly Artifact[] =>
  record.type === 'tool.end' ? (record.message.artifacts ?? []) : []
