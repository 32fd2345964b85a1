/** The door "escapement/client": drives the agents of a server, from a browser or from Node. */
export { connect } from './client/connect.ts'
export { emptyChat } from './client/fold/chat.ts'
export type { Chat, ChatCall, ChatMessage, ChatPending, ChatReply, ChatUserMessage } from './client/fold/chat.ts'
export { foldMessages } from './client/fold/foldMessages.ts'
export { conversationStore, type ConversationStore } from './client/conversationStore.ts'
export { escapementChat, type EscapementChatOptions, type EscapementChatTransport } from './client/escapementChat.ts'
export type {
  AnyWebSocket,
  ConnectOptions,
  RetryOptions,
  TokenSource,
  WebSocketConstructor,
} from './client/connectOptions.ts'
export type { Client, RemotePage, RemoteSessionPage, RemoteSpawnOptions } from './client/client.ts'
export type { ClientStatus } from './client/reconnectingLink.ts'
export type { RemoteAgent } from './client/remoteAgent.ts'
export type { RemoteListenOptions, RemoteSubscribeOptions } from './client/subscribeOptions.ts'
export type { OutputOptions, RemoteAgentOf } from './client/remoteAgentOf.ts'
export type {
  RemoteAgents,
  RemoteConversation,
  RemoteNode,
  RemoteSearch,
  RemoteSessions,
  RemoteWorker,
  RemoteShare,
  RemoteSnapshot,
  RemoteTree,
  RemoteWaiting,
} from './client/answers.ts'
export type { ClientCall } from './client/callAnswers.ts'
export type { RosterChange } from './client/remoteRoster.ts'

export type { PolicyInfo, RevertCategory, Tag } from './protocol/braking.ts'
export type { Clock } from './protocol/clock.ts'
export type {
  CompactOptions,
  DecideOptions,
  Decision,
  PruneOptions,
  RunOptions,
  SayOptions,
} from './protocol/commands.ts'
export type { TurnUse, UseChange } from './protocol/turns.ts'
export type { Content } from './protocol/saidContent.ts'
export { RuntimeError, type ErrorCode, type ErrorInfo } from './protocol/errors.ts'
export type { AgentEvent, EventOf } from './protocol/events.ts'
export type { AgentSummary, SessionEntry } from './protocol/frames.ts'
export type { Right, Role } from './protocol/rights.ts'
export type { Metadata } from './protocol/metadata.ts'
export type { Block, Message, Usage } from './protocol/messages.ts'
export type { Pending, WaitingAgent } from './protocol/pending.ts'
export type { PauseReason, RunStopReason, Spent } from './protocol/records.ts'
export type { Limits } from './protocol/runLimits.ts'
export { partialOutput, type PartialOutput } from './runs/partialOutput.ts'
export type { Run } from './runs/run.ts'
export type { AbortedRun, AnsweredRun, FailedRun, PausedRun, RunResult, UnansweredRun } from './runs/runResult.ts'
