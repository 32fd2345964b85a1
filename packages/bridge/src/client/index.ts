/** The client of the bridge: drives the agents of a server, from a browser or from Node. */
export { connect } from './connect.ts'
export { emptyChat } from './fold/chat.ts'
export type { Chat, ChatCall, ChatMessage, ChatPending, ChatReply } from './fold/chat.ts'
export { foldMessages } from './fold/foldMessages.ts'
export { conversationStore, type ConversationStore } from './conversationStore.ts'
export { chatState, type ChatStateData } from './chatState.ts'
export { escapementChat, type EscapementChatTransport } from './escapementChat.ts'
export type { ConnectOptions } from './connectOptions.ts'
export type { Client } from './client.ts'
export type { ClientStatus } from './reconnectingLink.ts'
export type { RemoteAgent } from './remoteAgent.ts'
export type { RemoteAgentOf } from './remoteAgentOf.ts'
export type {
  RemoteAgents,
  RemoteConversation,
  RemoteSearch,
  RemoteSessions,
  RemoteWaiting,
  RemoteWorker,
  RemoteShare,
  RemoteSnapshot,
} from './answers.ts'
export type { RemoteSpend } from './spend.ts'

export type { Decision, RunOptions } from '../../../../src/protocol/bridge/commands.ts'
export type { Content } from '../../../../src/protocol/text/saidContent.ts'
export { RuntimeError, type ErrorCode, type ErrorInfo } from '../../../../src/protocol/errors.ts'
export type { AgentEvent, EventOf } from '../../../../src/protocol/events.ts'
export type { AgentSummary, SessionEntry } from '../../../wire/src/frames.ts'
export type { Right, Role } from '../../../wire/src/rights.ts'
export type { Metadata } from '../../../../src/protocol/metadata.ts'
export type { Block, Message, Usage } from '../../../../src/protocol/messages.ts'
export type { Pending, WaitingAgent } from '../../../../src/protocol/runs/pending.ts'
export type { PauseReason, RunStopReason, Spent } from '../../../../src/protocol/records.ts'
export { partialOutput } from '../../../../src/protocol/runs/partialOutput.ts'
export type { Run } from '../../../../src/protocol/runs/run.ts'
export type { RunResult } from '../../../../src/protocol/runs/runResult.ts'
export type { RemoteHost } from './remoteHost.ts'
export type { HostLine, HostView } from '../../../wire/src/hostView.ts'
