import type { AgentDefinition } from '../../actors/define/agentDefinition.ts'
import type { EventsOf } from '../../actors/define/typedEvents.ts'
import type { Agent } from './agent.ts'
import type { DepsFor } from './agentTypes.ts'

/** An agent of a definition whose dependencies it has: `AgentOf<typeof coder>`. */
export type AgentOf<D extends AgentDefinition> =
  D extends AgentDefinition<infer Output, infer Deps, infer Calls>
    ? Agent<Output, DepsFor<Deps> | undefined, EventsOf<Calls>>
    : never
