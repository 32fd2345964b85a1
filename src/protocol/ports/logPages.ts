import type { Metadata } from '../metadata.ts'

/** Facts about an agent from the first record of its log, for lists. */
export interface LogOrigin {
  readonly definition: string
  /** Ids of the ancestors, root first. */
  readonly path: readonly string[]
  /** Time in epoch milliseconds. */
  readonly createdAt: number
  /** Id of the agent that it was forked from. */
  readonly forkedFrom?: string
  readonly metadata?: Metadata
}

/** A log in a list. */
export interface LogEntry {
  readonly id: string
  /** Size of the log in bytes or records. It grows with every record. */
  readonly size: number
  /** Time of the last record, in epoch milliseconds. */
  readonly writtenAt: number
  /** Origin of the log; `undefined` if its first record cannot be read or does not create an agent. */
  readonly origin: LogOrigin | undefined
}

/** Filter for logs. All given fields must match. */
export interface LogQuery {
  /** Only these logs. */
  readonly ids?: readonly string[]
  /** Only these agents and their descendants. */
  readonly within?: readonly string[]
  /** Only logs with all of these values. */
  readonly metadata?: Metadata
  readonly definition?: string
  /** Only direct children of this agent; `null`: only roots. */
  readonly parent?: string | null
  /** Only forks of this agent's own log. */
  readonly forkedFrom?: string
  /** Only logs after this one, which was the last of the previous page. It need not exist anymore. */
  readonly after?: Pick<LogEntry, 'id' | 'writtenAt'>
  /** Maximum number of logs on the page, 0 or more; default 100. */
  readonly limit?: number
  /** Asks for the total number of logs, ignoring `after` and `limit`. */
  readonly total?: boolean
}

/** A page of a store's logs, the most recently written first; logs with the same time are sorted by id. */
export interface LogPage {
  readonly logs: readonly LogEntry[]
  /** Total number of logs, if requested. */
  readonly total?: number
}

/** Default number of logs on a page. */
export const defaultPageLimit = 100
