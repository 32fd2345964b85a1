import type { Answer } from '../../questions.ts'

/** A call that a running call makes, waiting for an approval. */
export interface InnerRequest {
  readonly callId: string
  readonly key: string
  readonly name: string
  readonly input: unknown
  readonly irreversible?: true
  /** The rule or the mode by which the call waits. */
  readonly rule?: string
  /** Rules that would allow the call, the narrowest first. */
  readonly suggest?: string[]
}

/** A call to a sub-agent by a running call. */
export interface InnerAgentCall {
  /** Position among the calls of the running call. */
  readonly n: number
  readonly callId: string
  readonly key: string
  readonly name: string
  readonly input: unknown
  /** The input as the log has it. */
  readonly logged: unknown
  readonly print: string
  readonly begun: number
  readonly rule?: string
}

/** People's answer, with the key of the question if one of the running call's own calls asked it. */
export type GivenAnswer = Answer & { readonly key?: string }

/** Decision of a person about a call that a running call makes. */
export interface InnerDecision {
  readonly key: string
  /** Arguments that the decision is about. */
  readonly asked: unknown
  readonly decision: 'approve' | 'deny'
  readonly reason?: string
  /** Arguments to use instead, if a person edited them. */
  readonly input?: unknown
}
