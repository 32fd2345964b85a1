import type { ErrorInfo } from '../../../../src/protocol/errors.ts'

export interface RemoteListenOptions {
  /** The first record to deliver from the log; default: only later events. */
  readonly fromSeq?: number
  /** Delivers text as it grows. Default `true`. */
  readonly deltas?: boolean
  /** Delivers events of sub-agents too, at any depth, while connected. After a reconnect only later events come. Default `false`. */
  readonly descendants?: boolean
  /**
   * Delivers requests to the model too, as `turn.request` events; each contains the whole conversation. Needs the right `see.all`. Default `false`.
   */
  readonly requests?: boolean
  /** Delivers captured requests of the log in full. `false`: a `record.withheld` event with `captured` in place of each. Default `true`. */
  readonly captured?: boolean
}

export interface RemoteSubscribeOptions extends RemoteListenOptions {
  /** If the server has lost delivered records, delivers its log again from `agent.created` on. Default: continue with the next record. */
  readonly rereads?: boolean
  /** Waits for an agent that does not exist yet, after a call of `onEnd`, and follows it once the server's roster shows it. Default `false`. */
  readonly awaits?: boolean
  /** Called when everything so far has been delivered: initially, and after every reconnect. */
  readonly onCaughtUp?: () => unknown
  /**
   * Called once when no more events will come: the agent was stopped or, with an error, cannot be followed. Default: `client.onError` gets it.
   */
  readonly onEnd?: (error?: ErrorInfo) => unknown
}

/** Options without sub-agents, whose events are of other types. */
export type Own<Options> = Options & { readonly descendants?: false }
