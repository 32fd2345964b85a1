'use client'
/** The door "escapement/react": hooks for React that show and drive the agents of a server. */
export { AgentProvider, type AgentProviderProps } from './react/agentProvider.ts'
export { useAgent, type UseAgentOptions, type UsedAgent } from './react/useAgent.ts'
export { useApprovals, type UsedApprovals } from './react/useApprovals.ts'
export { useConversation } from './react/useConversation.ts'
export { useRoster, useConnection } from './react/useRoster.ts'
export { useRun, type UsedRun } from './react/useRun.ts'
export type { ConnectionFacts } from './react/agentStores.ts'

export type { AgentFacts, AgentStatus } from './client/agentStore.ts'
export type { Chat, ChatCall, ChatMessage, ChatPending, ChatReply, ChatUserMessage } from './client/fold/chat.ts'
export type { RunProgress, RunView } from './client/fold/foldRun.ts'
