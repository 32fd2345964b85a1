import type { InnerAgentCall, InnerRequest } from '../protocol/parts/inner/innerDecisions.ts'

/** Events of the calls that running calls make. */
export type InnerEvent =
  /** Requests approval for an inner call made by the call under `key`. */
  | { readonly type: 'ask.approval'; readonly key: string; readonly request: InnerRequest; readonly at: number }
  /** Requests a sub-agent for the call under `key`, with `waiting` more behind it. */
  | {
      readonly type: 'call.agent'
      readonly key: string
      readonly call: InnerAgentCall
      readonly waiting: number
      readonly at: number
    }
  /** Reports that the call under `outer` was aborted or timed out while its sub-agent under `key` was at work. */
  | { readonly type: 'leave.agent'; readonly outer: string; readonly key: string }
