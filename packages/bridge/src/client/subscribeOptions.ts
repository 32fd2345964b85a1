import type { ErrorInfo } from '../../../../src/protocol/errors.ts'

export interface RemoteListenOptions {
  /** The first record to hear, from the log; default: from now on. */
  readonly fromSeq?: number
  /** Hear text as it grows. Default `true`. */
  readonly deltas?: boolean
  /** Deliver events of sub-agents too, however deep, while connected: after a reconnect only later ones. Default `false`. */
  readonly descendants?: boolean
  /**
   * Requests to the model too, as `turn.request` events: each has the whole conversation. Needs the right `see.all`; default `false`.
   */
  readonly requests?: boolean
}

export interface RemoteSubscribeOptions extends RemoteListenOptions {
  /**
   * Where the server has lost records that were heard, deliver its log from the first one again, `agent.created`; default: continue with the
   * next record.
   */
  readonly rereads?: boolean
  /**
   * Waits for an agent that does not exist yet, after `onEnd` was told so, and hears it from then on: the server's roster says when it runs.
   * Default `false`.
   */
  readonly awaits?: boolean
  /** Called when everything so far was heard: at first, and after every reconnect. */
  readonly onCaughtUp?: () => unknown
  /** Called once when no more will come: it was stopped, or, with an error, it cannot be followed. Default: `client.onError` hears of the error. */
  readonly onEnd?: (error?: ErrorInfo) => unknown
}

/** Options without sub-agents, whose events are of other types. */
export type Own<Options> = Options & { readonly descendants?: false }
