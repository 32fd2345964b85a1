import type { LogRecord } from '../../../src/protocol/records.ts'

export {
  artifactKey as keptKey,
  NamedArtifacts as NamedKept,
  takeArtifact as takeKept,
  type ExportedArtifact as KeptLine,
} from './artifacts/exportedArtifacts.ts'

/** Format name in the first line of an exported file. */
export const exportFormat = 'escapement.session'

/** Version of the file that `exportSession` writes. A newer one is refused. Version 1 had no artifacts. */
export const exportVersion = 2

/** Every further line: a record, and the agent in whose log it stands. */
export interface ExportLine {
  readonly agentId: string
  readonly record: LogRecord
}

/** The first line of an exported session. `agents` lists the agents whose records follow, the session itself last. */
export const headerLine = (agentId: string, agents: readonly string[]): string =>
  lineOf({ format: exportFormat, version: exportVersion, agentId, agents })

export const lineOf = (value: object): string => `${JSON.stringify(value)}\n`
