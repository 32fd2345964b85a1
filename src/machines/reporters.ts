import type { NodeId } from '../protocol/ids.ts'
import type { GivenAnswer } from '../protocol/parts/inner/innerDecisions.ts'
import type { Question } from '../protocol/questions.ts'
import type { RecordOf } from '../protocol/records.ts'

/** An agent that was called, works on its own, and has yet to report its outcome. */
export interface AgentReporter {
  readonly kind?: undefined
  readonly childId: string
  readonly name: string
  readonly callId: string
  /** The key of the call. */
  readonly key: string
}

/** A call that works in the background, and has yet to report its outcome. */
export interface CallReporter {
  readonly kind: 'call'
  readonly callId: string
  readonly name: string
  readonly input: unknown
  readonly key: string
  readonly nodeId: NodeId
  /** Id by which the model knows the call, such as `b3`. */
  readonly id: string
  readonly runId: string
  readonly turnIndex: number
  /** The question that the tool asked, while it waits for the answer, and the time since when, in epoch milliseconds. */
  readonly question?: Question
  readonly askedAt?: number
  /** Answers to the earlier questions, in order: given to a call that runs again. */
  readonly answers?: readonly GivenAnswer[]
  /** Data for cleaning up after the call if its process dies. */
  readonly left?: unknown
  /** Outcome of the call once it has ended, until the message about it is in a queue. */
  readonly reported?: Pick<RecordOf<'call.reported'>, 'content' | 'isError' | 'ended'>
}

export type Reporter = AgentReporter | CallReporter
