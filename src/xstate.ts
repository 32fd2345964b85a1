/** The door "escapement/xstate": agents as actors of the application's own XState machines. */
export { agentLogic, type AgentLogic, type AgentLogicOptions } from './runtime/xstate/agentLogic.ts'
export type { AgentLogicEvent, AgentLogicInput, AgentSnapshot } from './runtime/xstate/agentSnapshot.ts'
