import type { Metadata } from '../metadata.ts'

/** Facts about an agent from the first record of its log, for lists. */
export interface LogOrigin {
  readonly definition: string
  /** Ids of the ancestors, root first. */
  readonly path: readonly string[]
  /** In epoch milliseconds. */
  readonly createdAt: number
  /** Id of the agent that it is a fork of. */
  readonly forkedFrom?: string
  readonly metadata?: Metadata
}

/** A log in a list. */
export interface LogEntry {
  readonly id: string
  /** Size of the log in bytes or records, which grows with every record. */
  readonly size: number
  /** When the last record was written, in epoch milliseconds. */
  readonly writtenAt: number
  /** Origin of the log; `undefined` if its first record cannot be read, or is none of an agent. */
  readonly origin: LogOrigin | undefined
}

/** Filter of logs: those for which every given field holds. */
export interface LogQuery {
  /** Only these logs. */
  readonly ids?: readonly string[]
  /** Only these agents and those below them. */
  readonly within?: readonly string[]
  /** Only logs with all of these values. */
  readonly metadata?: Metadata
  readonly definition?: string
  /** Only agents right below this one; `null`: only roots. */
  readonly parent?: string | null
  /** Only forks of this agent's own log. */
  readonly forkedFrom?: string
  /** Only logs after this one, which need not be there any more: the last of the page before. */
  readonly after?: Pick<LogEntry, 'id' | 'writtenAt'>
  /** Most logs on the page, 0 or more; default 100. */
  readonly limit?: number
  /** Asks for the number of logs in all, `after` and `limit` aside. */
  readonly total?: boolean
}

/** A page of a store's logs: the one written last first, those of one moment by id. */
export interface LogPage {
  readonly logs: readonly LogEntry[]
  /** Number of logs in all, if requested. */
  readonly total?: number
}

/** Number of logs on a page unless told otherwise. */
export const defaultPageLimit = 100
