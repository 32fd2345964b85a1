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
  /** The key of its call. */
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
  /** Its id for the model, such as `b3`. */
  readonly id: string
  readonly runId: string
  readonly turnIndex: number
  /** The question of its tool, while it waits for the answer, and since when, in epoch milliseconds. */
  readonly question?: Question
  readonly askedAt?: number
  /** Answers to the earlier questions, in order: given to a call that runs again. */
  readonly answers?: readonly GivenAnswer[]
  /** Set if it would leave something behind if its process died: data about that. */
  readonly left?: unknown
  /** Set once it has ended, until its message is in a queue. */
  readonly reported?: Pick<RecordOf<'call.reported'>, 'content' | 'isError' | 'ended'>
}

export type Reporter = AgentReporter | CallReporter
