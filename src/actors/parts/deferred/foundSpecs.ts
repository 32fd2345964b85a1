import type { ToolSpec } from '../../../protocol/ports/model.ts'
import type { AgentDefinition } from '../../define/agentDefinition.ts'
import { specOf } from '../../define/definedAgent.ts'
import { subAgentSpec } from '../../define/subAgents.ts'
import { deferredAgents, deferredTools } from './deferral.ts'

/** Returns the specs of the tools and sub-agents that no request lists, as a request would list them. */
export const foundSpecs = (definition: Pick<AgentDefinition, 'tools' | 'agents' | 'deferred'>): readonly ToolSpec[] => [
  ...deferredTools(definition).map(specOf),
  ...deferredAgents(definition).map(subAgentSpec),
]
