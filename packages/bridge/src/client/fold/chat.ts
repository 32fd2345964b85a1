import type { Block, PlainBlock, SyntheticReason, UserSource } from '../../../../../src/protocol/messages.ts'
import type { ErrorInfo } from '../../../../../src/protocol/errors.ts'
import type { Pending } from '../../../../../src/protocol/runs/pending.ts'
import type { PauseReason } from '../../../../../src/protocol/records.ts'

/** A conversation as a chat shows it. Plain data; unchanged parts stay the same object. */
export interface Chat {
  readonly agentId: string
  /** Messages in the order they were said; those that left the model's sight stay, with `hidden`. */
  readonly messages: readonly ChatMessage[]
  /** Calls and questions that wait for people, of the agent itself and of agents below it. */
  readonly pending: readonly ChatPending[]
  /** Calls and questions of a run that ended without an answer, for example because the store failed: they wait again once that agent continues. */
  readonly resting: readonly ChatPending[]
  /** `running` from the start of a run to its end, also while people are asked; `paused`: the run ended with something outstanding. */
  readonly status: 'idle' | 'running' | 'paused' | 'stopped'
  /** Why it is paused. */
  readonly pause?: PauseReason
  /** Why the last run failed. */
  readonly error?: ErrorInfo
  /** `seq` of the last record, after which to continue reading. */
  readonly seq: number
}

export type ChatMessage = ChatUserMessage | ChatReply

interface InChat {
  /** Stays the same for the life of the message, also while a reply grows. */
  readonly id: string
  /** Its place in the conversation, such as 12 for `n12`; not known yet of a reply that grows. */
  readonly nodeId?: number
  /** Id of the message before it in the conversation; missing for the first. Together with reverted messages, messages form a tree. */
  readonly after?: string
  /** Why the model does not see it. */
  readonly hidden?: 'reverted' | 'pruned' | 'summarised'
}

export interface ChatUserMessage extends InChat {
  readonly role: 'user'
  readonly text: string
  /** Text and images. */
  readonly content: readonly PlainBlock[]
  readonly source: UserSource
}

export interface ChatReply extends InChat {
  readonly role: 'assistant'
  readonly text: string
  readonly thinking: string
  /** Its tool calls, in order. */
  readonly calls: readonly ChatCall[]
  /** `growing`: more is to come. `cutOff`: an abort ended it. */
  readonly status: 'growing' | 'done' | 'cutOff' | 'failed'
  /** All its blocks, once it is done. */
  readonly content?: readonly Block[]
  /** Why the last attempt at it failed; it may be tried again. */
  readonly error?: ErrorInfo
}

export interface ChatCall {
  readonly callId: string
  readonly name: string
  /** `writing`: the model is still writing `inputText`; `waiting`: for a decision, an answer, or its turn. */
  readonly status: 'writing' | 'waiting' | 'running' | 'done' | 'failed'
  readonly inputText?: string
  readonly input?: unknown
  /** Latest progress that the tool reported. */
  readonly progress?: unknown
  /** The sub-agent that carries it out. */
  readonly childId?: string
  readonly result?: readonly PlainBlock[]
  /** Why the runtime answered in place of the tool, such as `denied`. */
  readonly synthetic?: SyntheticReason
}

/**
 * A call that people have to decide, a question that they have to answer, or a call that a client is to carry out, told apart by `kind`.
 * `agent.decide` takes its `key`.
 */
export type ChatPending = Pending & {
  /** The ancestors of the agent whose call it is, root first. */
  readonly path: readonly string[]
}

/** The chat of an agent of which nothing was heard yet. */
export const emptyChat = (agentId: string): Chat => ({
  agentId,
  messages: [],
  pending: [],
  resting: [],
  status: 'idle',
  seq: 0,
})
