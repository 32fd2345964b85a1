import type { AgentDefinition } from '../../actors/agentDefinition.ts'
import type { EventsOf } from '../../actors/typedEvents.ts'
import type { Agent } from './agent.ts'
import type { DepsFor } from './agentTypes.ts'

/** An agent of a definition that has what it needs: `AgentOf<typeof coder>`. */
export type AgentOf<D extends AgentDefinition> =
  D extends AgentDefinition<infer Output, infer Deps, infer Calls>
    ? Agent<Output, DepsFor<Deps> | undefined, EventsOf<Calls>>
    : never
