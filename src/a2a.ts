/** The door "escapement/a2a": agents for others, and those of others for ours, by the Agent2Agent protocol. Needs the package `@a2a-js/sdk`. */
export { a2a, type A2aOptions } from '../packages/a2a/src/server/a2a.ts'
export { a2aAgent, type A2aAgentOptions } from '../packages/a2a/src/client/a2aAgent.ts'
export type { A2aAuth } from '../packages/a2a/src/client/boundedFetch.ts'

// Agents elsewhere by any other protocol
export type {
  RemoteAgentEntry,
  RemoteAnswer,
  RemoteHost,
  RemoteLimits,
  RemoteOptions,
  RemoteRequest,
  RemoteTask,
} from './actors/parts/remote/remoteAgent.ts'
