import type { DataApart } from '../../../../../src/protocol/resultData.ts'
import type { Block, PlainBlock, SyntheticReason, UserSource } from '../../../../../src/protocol/messages.ts'
import type { ErrorInfo } from '../../../../../src/protocol/errors.ts'
import type { Pending } from '../../../../../src/protocol/runs/pending.ts'
import type { PauseReason } from '../../../../../src/protocol/records.ts'

/** A conversation in the form of a chat. Plain data. Unchanged parts stay the same object. */
export interface Chat {
  readonly agentId: string
  /** Messages in their order. Messages that the model no longer sees stay, with `hidden`. */
  readonly messages: readonly ChatMessage[]
  /** Calls and questions that wait for people, of the agent and its descendants. */
  readonly pending: readonly ChatPending[]
  /** Unanswered calls and questions of a run that ended, for example because the store failed. They wait again once that agent continues. */
  readonly resting: readonly ChatPending[]
  /** Status of the chat: `running` throughout a run, even while people are asked; `paused` if the run ended with something outstanding. */
  readonly status: 'idle' | 'running' | 'paused' | 'stopped'
  /** Reason for the pause. */
  readonly pause?: PauseReason
  /** Reason why the last run failed. */
  readonly error?: ErrorInfo
  /** `seq` of the last record, after which to continue reading. */
  readonly seq: number
}

export type ChatMessage = ChatUserMessage | ChatReply

interface InChat {
  /** Id that stays the same for as long as the message exists, even while a reply grows. */
  readonly id: string
  /** Node id of the message in the conversation, such as 12 for `n12`; missing for a growing reply. */
  readonly nodeId?: number
  /** Id of the message that precedes it in the conversation; missing for the first. Together with reverted messages, messages form a tree. */
  readonly after?: string
  /** Reason why the model does not see the message. */
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
  /** Tool calls of the reply, in order. */
  readonly calls: readonly ChatCall[]
  /** Status of the reply. `growing`: more text will follow. `cutOff`: an abort ended it. */
  readonly status: 'growing' | 'done' | 'cutOff' | 'failed'
  /** All blocks of the reply, once it is complete. */
  readonly content?: readonly Block[]
  /** Reason why the last attempt failed. It may be retried. */
  readonly error?: ErrorInfo
}

export interface ChatCall {
  readonly callId: string
  readonly name: string
  /** Status of the call. `writing`: the model is still writing `inputText`. `waiting`: it waits for a decision, an answer, or its turn. */
  readonly status: 'writing' | 'waiting' | 'running' | 'done' | 'failed'
  readonly inputText?: string
  readonly input?: unknown
  /** Latest progress that the tool reported. */
  readonly progress?: unknown
  /** The sub-agent that carries out the call. */
  readonly childId?: string
  readonly result?: readonly PlainBlock[]
  /** Data of the result for the application, if it has any and the client may see it. */
  readonly data?: unknown
  /** Set in place of data of more than 64 kB, which is kept beside the log, or lost. */
  readonly dataApart?: DataApart
  /** Reason why the runtime answered instead of the tool, such as `denied`. */
  readonly synthetic?: SyntheticReason
}

/**
 * A call for people to decide, a question for them to answer, or a call for a client to carry out, told apart
 * by `kind`. `agent.decide` takes its `key`.
 */
export type ChatPending = Pending & {
  /** The ancestors of the agent that made the call, root first. */
  readonly path: readonly string[]
}

/** Returns the chat of an agent before its first event. */
export const emptyChat = (agentId: string): Chat => ({
  agentId,
  messages: [],
  pending: [],
  resting: [],
  status: 'idle',
  seq: 0,
})
