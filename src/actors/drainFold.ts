import { planFold } from '../conversation/planFold.ts'
import type { FoldInput, FoldOutput } from '../machines/drainTypes.ts'
import { sizesOfFold } from '../conversation/trunkSizes.ts'
import { economicsFor } from './economicsFor.ts'
import type { FindPorts } from './agentPorts.ts'
import { effect } from './effect.ts'
import { requestTokens } from './requestTokens.ts'

/** The effect of `draining.folding`: folds the oldest steps if the next request would be too large and enough comes off. */
export const drainFold = (find: FindPorts) =>
  effect<FoldOutput, FoldInput>(({ agentId, key }) => {
    const ports = find(agentId)
    const { conversation, definition, clock } = ports
    const plan = planFold(conversation, definition.braking!.fold!, definition.frameTokens, key)
    const at = clock.now()
    if (plan === undefined)
      return { key, outcome: null, contextTokens: requestTokens(ports, conversation.trunkTokens), at }
    const economics = economicsFor(ports, sizesOfFold(conversation, plan))
    return { key, outcome: { ...plan.outcome, economics }, contextTokens: requestTokens(ports, plan.trunkTokens), at }
  })
