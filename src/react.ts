'use client'
/** The door "escapement/react": hooks for React that show and drive the agents of a server. */

// Hooks, and what they give
export { AgentProvider } from '../packages/react/src/agentProvider.ts'
export { useAgent, type UsedAgent } from '../packages/react/src/useAgent.ts'
export { useApprovals, type UsedApprovals } from '../packages/react/src/useApprovals.ts'
export { useAgentState, type UsedState } from '../packages/react/src/useAgentState.ts'
export { McpApp } from '../packages/react/src/mcpApp.ts'
export { useCall, type UsedCall } from '../packages/react/src/useCall.ts'
export { useConversation } from '../packages/react/src/useConversation.ts'
export { useRoster, useConnection } from '../packages/react/src/useRoster.ts'
export { useWaiting, type WaitingAgent } from '../packages/react/src/useWaiting.ts'
export { useRun, type UsedRun } from '../packages/react/src/useRun.ts'

// What components show
export type { Chat, ChatCall, ChatMessage, ChatPending, ChatReply } from '../packages/bridge/src/client/fold/chat.ts'
export type { RunView } from '../packages/bridge/src/client/fold/foldRun.ts'
