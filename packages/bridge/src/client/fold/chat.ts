import type { DataApart } from '../../../../../src/protocol/resultData.ts'
import type { Block, PlainBlock, SyntheticReason, UserSource } from '../../../../../src/protocol/messages.ts'
import type { ErrorInfo } from '../../../../../src/protocol/errors.ts'
import type { Pending } from '../../../../../src/protocol/runs/pending.ts'
import type { PauseReason } from '../../../../../src/protocol/records.ts'

/** A conversation as a chat shows it. Plain data; unchanged parts stay the same object. */
export interface Chat {
  readonly agentId: string
  /** Messages in their order. Messages that the model no longer sees stay, with `hidden`. */
  readonly messages: readonly ChatMessage[]
  /** Calls and questions that wait for people, of the agent itself and of agents below it. */
  readonly pending: readonly ChatPending[]
  /** Calls and questions of a run that ended without an answer, for example because the store failed: they wait again once that agent continues. */
  readonly resting: readonly ChatPending[]
  /** `running` from the start of a run to its end, also while people are asked; `paused`: the run ended with something outstanding. */
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
  /** Stays the same for the life of the message, also while a reply grows. */
  readonly id: string
  /** Its node in the conversation, such as 12 for `n12`; missing for a growing reply. */
  readonly nodeId?: number
  /** Id of the message before it in the conversation; missing for the first. Together with reverted messages, messages form a tree. */
  readonly after?: string
  /** Reason why the model does not see it. */
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
  /** `growing`: more text will follow. `cutOff`: an abort ended it. */
  readonly status: 'growing' | 'done' | 'cutOff' | 'failed'
  /** All its blocks, once it is complete. */
  readonly content?: readonly Block[]
  /** Reason why the last attempt failed. It may be retried. */
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
  /** Data of the result for the application, if it has any and the client may see it. */
  readonly data?: unknown
  /** Set in place of data of more than 64 kB: kept beside the log, or lost. */
  readonly dataApart?: DataApart
  /** Reason why the runtime answered instead of the tool, such as `denied`. */
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

/** Returns the chat of an agent before its first event. */
export const emptyChat = (agentId: string): Chat => ({
  agentId,
  messages: [],
  pending: [],
  resting: [],
  status: 'idle',
  seq: 0,
})
