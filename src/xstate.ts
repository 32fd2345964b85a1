/** The door "escapement/xstate": agents as actors of the application's own XState machines, and machines whose state is kept like an agent's. */
export { agentLogic, type AgentLogic } from '../packages/xstate/src/agentLogic.ts'
export type { AgentLogicInput, AgentSnapshot } from '../packages/xstate/src/agentSnapshot.ts'
export { durable, type DurableArgs, type DurableLogic } from '../packages/xstate/src/hosts/durable.ts'
export { defineHost } from '../packages/xstate/src/hosts/defineHost.ts'
export { hostMachine } from '../packages/xstate/src/hosts/hostMachine.ts'
export type { HostDefinition, Hosted } from '../packages/xstate/src/hosts/hostTypes.ts'
