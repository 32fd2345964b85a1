import type { Block, PlainBlock, ToolSpec } from '../../../src/index.ts'

/** Result of a tool when the session was recorded. */
export interface RecordedResult {
  readonly content: readonly PlainBlock[]
  readonly isError: boolean
  /** Files that it reports as changed. */
  readonly changed?: readonly string[]
}

/** Messages of people before the next reply: a prompt, or steering if the reply before it made calls. */
export interface UserTurn {
  readonly type: 'user'
  readonly content: readonly PlainBlock[]
}

/** A reply of the model, with the result of each of its calls in the order of the calls. */
export interface StepTurn {
  readonly type: 'step'
  readonly content: readonly Block[]
  readonly results: readonly RecordedResult[]
  /** When its request was sent, in milliseconds since the first one. */
  readonly at?: number
}

export type RecordedTurn = UserTurn | StepTurn

/**
 * A session as it can be replayed, whatever it was recorded by. It begins with a user turn; no two user turns are neighbours; a reply
 * without calls is followed by a user turn or ends it; call ids are unique.
 */
export interface RecordedSession {
  readonly name: string
  readonly format: string
  readonly system: string
  readonly tools: readonly ToolSpec[]
  /** Tools that the agent is given as `deferred`: no request lists them. */
  readonly deferred?: readonly ToolSpec[]
  /** Names of tools that declare that they poll. */
  readonly polling?: readonly string[]
  readonly turns: readonly RecordedTurn[]
  /** Tokens of the first request, as its provider counted them. */
  readonly firstInput?: number
  /** Tokens of the provider in four characters. Default 1. */
  readonly unit?: number
  /** Notes for people on parts of the recording that were left out or made up. */
  readonly notes: readonly string[]
}

/** Why a recording cannot be replayed, in words for whoever gave it. */
export class ReplayError extends Error {
  override readonly name = 'ReplayError'
}

export const isStep = (turn: RecordedTurn): turn is StepTurn => turn.type === 'step'
export const stepsOf = ({ turns }: RecordedSession): StepTurn[] => turns.filter(isStep)
