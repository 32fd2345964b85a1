/** The door "escapement/xstate": agents as actors of the application's own XState machines. */
export { agentLogic, type AgentLogic } from '../packages/xstate/src/agentLogic.ts'
export type { AgentLogicEvent, AgentLogicInput, AgentSnapshot } from '../packages/xstate/src/agentSnapshot.ts'
