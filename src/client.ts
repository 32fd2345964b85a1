/** The door "escapement/client": drives the agents of a server, from a browser or from Node. */

// Connections
export {
  connect,
  type Client,
  type ConnectOptions,
  type RemoteAgent,
  type RemoteAgentOf,
} from '../packages/bridge/src/client/index.ts'

// What a server answers
export type {
  AgentSummary,
  RemoteConversation,
  RemoteHost,
  RemoteSnapshot,
  SessionEntry,
} from '../packages/bridge/src/client/index.ts'

// Conversations for views
export {
  chatState,
  conversationStore,
  emptyChat,
  escapementChat,
  foldMessages,
  type Chat,
  type ChatCall,
  type ChatMessage,
  type ChatPending,
  type ChatReply,
  type ChatStateData,
  type ConversationStore,
} from '../packages/bridge/src/client/index.ts'

// Names of the main door that code beside a client needs
export {
  partialOutput,
  RuntimeError,
  type AgentEvent,
  type Block,
  type Content,
  type Decision,
  type ErrorCode,
  type ErrorInfo,
  type EventOf,
  type Message,
  type Metadata,
  type PauseReason,
  type Pending,
  type Right,
  type Role,
  type Run,
  type RunOptions,
  type RunResult,
  type RunStopReason,
  type Spent,
  type Usage,
  type WaitingAgent,
} from '../packages/bridge/src/client/index.ts'
