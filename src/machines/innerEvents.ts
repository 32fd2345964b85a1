import type { InnerAgentCall, InnerRequest } from '../protocol/parts/inner/innerDecisions.ts'

/** Events of the calls that running calls make. */
export type InnerEvent =
  /** The call under `key` makes a call that needs an approval. */
  | { readonly type: 'ask.approval'; readonly key: string; readonly request: InnerRequest; readonly at: number }
  /** The call under `key` calls a sub-agent, and so many more wait behind it. */
  | {
      readonly type: 'call.agent'
      readonly key: string
      readonly call: InnerAgentCall
      readonly waiting: number
      readonly at: number
    }
  /** The effect of the call under `outer` ended, which had called the sub-agent under `key`. */
  | { readonly type: 'leave.agent'; readonly outer: string; readonly key: string }
