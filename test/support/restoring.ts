import type { AgentDefinition } from '../../src/actors/define/agentDefinition.ts'
import type { FrameState } from '../../src/machines/agentTypes.ts'

/** Agent for which an input is restored. */
export const restoring = (definition: AgentDefinition) => ({
  agentId: 'a1',
  path: [],
  deps: undefined,
  definition,
  ownDefinition: definition,
  isGoverned: false,
  handoffs: { pending: undefined, endsUse: false },
  frame: definition,
  asking: { restored: (frame: FrameState | null) => frame },
})
