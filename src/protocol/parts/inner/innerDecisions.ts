import type { Answer } from '../../questions.ts'

/** A call that a running call makes and that waits for an approval. */
export interface InnerRequest {
  readonly callId: string
  readonly key: string
  readonly name: string
  readonly input: unknown
  readonly irreversible?: true
  /** The rule or the mode by which it waits. */
  readonly rule?: string
  /** Rules that would allow the call, the narrowest first. */
  readonly suggest?: string[]
}

/** A call of a sub-agent that a running call makes. */
export interface InnerAgentCall {
  /** Place among the calls that the running one makes. */
  readonly n: number
  readonly callId: string
  readonly key: string
  readonly name: string
  readonly input: unknown
  /** The same as the log has it. */
  readonly logged: unknown
  readonly print: string
  readonly begun: number
  readonly rule?: string
}

/** Answer of people; with the key of the question if a call that the running one makes asked it. */
export type GivenAnswer = Answer & { readonly key?: string }

/** Decision of a person about a call that a running call makes. */
export interface InnerDecision {
  readonly key: string
  /** Arguments that were decided about. */
  readonly asked: unknown
  readonly decision: 'approve' | 'deny'
  readonly reason?: string
  /** Arguments in their place, if a person edited them. */
  readonly input?: unknown
}
