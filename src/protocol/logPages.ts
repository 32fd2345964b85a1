import type { Metadata } from './metadata.ts'

/** What the first record of a log says of its agent, for lists. */
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
  /** Grows with every record: bytes, or records. */
  readonly size: number
  /** When the last record was written, in epoch milliseconds. */
  readonly writtenAt: number
  /** `undefined`: its first record cannot be read, or is none of an agent. */
  readonly origin: LogOrigin | undefined
}

/** Which logs are asked for: those for which all that is given holds. */
export interface LogQuery {
  /** Only these. */
  readonly ids?: readonly string[]
  /** Only these agents and those below them. */
  readonly within?: readonly string[]
  /** Only those with all of these values. */
  readonly metadata?: Metadata
  readonly definition?: string
  /** Only those right below this agent; `null`: only roots. */
  readonly parent?: string | null
  /** Only forks of this agent's own log. */
  readonly forkedFrom?: string
  /** Only what comes after this one, which need not be there any more: the last of the page before. */
  readonly after?: Pick<LogEntry, 'id' | 'writtenAt'>
  /** How many at most, 0 and more; 100 unless told. */
  readonly limit?: number
  /** Whether to tell how many there are in all, `after` and `limit` aside. */
  readonly total?: boolean
}

/** A page of a store's logs: the one written last first, those of one moment by id. */
export interface LogPage {
  readonly logs: readonly LogEntry[]
  /** How many there are in all, if asked for. */
  readonly total?: number
}

/** How many logs a page has unless told. */
export const defaultPageLimit = 100
