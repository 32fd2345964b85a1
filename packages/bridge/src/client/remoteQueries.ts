import type { Metadata } from '../../../../src/protocol/metadata.ts'

/** Query for a list of agents or sessions. */
export interface RemotePage {
  /** Id of the last entry on the previous page. */
  readonly after?: string
  readonly limit?: number
  /** Only entries that have all of these values. */
  readonly metadata?: Metadata
}

/** Query for a list of sessions. */
export interface RemoteSessionPage extends RemotePage {
  /** Only sessions whose agents run on the server or, with `false`, whose agents do not. */
  readonly running?: boolean
  /** Only forks of this agent's own log. */
  readonly forkedFrom?: string
}

export interface RemoteSpawnOptions {
  readonly id?: string
  readonly incognito?: boolean
  readonly metadata?: Metadata
}
