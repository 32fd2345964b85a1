import { z } from 'zod'
import type { LogOrigin } from '../../../../src/protocol/ports/logPages.ts'
import type { ExportLine, KeptLine } from '../../../sessions/src/exportLines.ts'
import type { SessionSummary } from '../../../sessions/src/listSessions.ts'

/** Version of the files beside a page of sessions. A page refuses those of a newer one. */
export const pagesVersion = 1

/** A log of a session, as lists show it. */
export interface PageLog {
  readonly id: string
  /** Number of the log's records in the file. */
  readonly size: number
  readonly writtenAt: number
  readonly origin?: LogOrigin
  readonly summary?: SessionSummary
  /** True if the log is there only as the past of a fork, up to where the fork begins. */
  readonly isPast?: true
}

/** A log that the page has only in part, because all of it would be too much. */
export interface CutLog {
  readonly agentId: string
  /** Number of records in the page; `all`: number of records in the log. */
  readonly kept: number
  readonly all: number
}

/** A session with its sub-agents: one file. */
export interface PageFile {
  /** Id of the session's own agent. */
  readonly root: string
  /** Name of the file in the folder `sessions`. */
  readonly file: string
  readonly logs: readonly PageLog[]
  readonly cut?: readonly CutLog[]
  /** Number of artifacts that were left out. */
  readonly leftOut?: number
}

/** Index of the sessions beside a page. */
export interface PageIndex {
  readonly version: number
  readonly files: readonly PageFile[]
}

/** A line of a session's file, before compression: a record, or an artifact that a result names. */
export type PageLine = ExportLine | KeptLine

/** Content that a session's file hands to the page. */
export interface PackedSession {
  readonly version: number
  readonly root: string
  /** Lines of JSON, deflated without a header, in base64. */
  readonly data: string
}

/** Checks the fields that tell the kind of a file. The rest is as the writer of this version made it. */
export const packedSchema = z.object({ version: z.int().positive(), root: z.string(), data: z.string() })
export const indexSchema = z.object({
  version: z.int().positive(),
  files: z.array(z.object({ root: z.string(), file: z.string() })),
})

/** The function in the page that takes a session's file. */
export const receiver = 'escapementSession'
/** The variable in which a page finds its index. */
export const indexName = 'escapementSessions'

/** Writes a value as JSON for a script in a page: no part of it ends the script or the page. Pure. */
export const inScript = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[<\u2028\u2029]/g,
    (unit) => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
