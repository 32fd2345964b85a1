import type { Conversation } from '../../../conversation/tree/conversation.ts'
import { readNames } from '../../../conversation/names/nameIndex.ts'
import { isFoldDue, planFold } from '../../../conversation/brakes/fold/planFold.ts'
import type { FoldInput, FoldOutput } from '../../../machines/drainTypes.ts'
import { sizesOfFold } from '../../../conversation/limits/trunkSizes.ts'
import { economicsFor } from '../economicsFor.ts'
import type { FindPorts } from '../../agentPorts.ts'
import { breather } from '../../timing/breather.ts'
import type { Cancellation } from '../../timing/cancellation.ts'
import { foldTerms } from './foldTerms.ts'
import { effect } from '../../effect.ts'
import { requestTokens } from '../../turn/estimates.ts'

/** The effect of `draining.folding`: folds the oldest steps if the next request would be too large and the fold saves enough. */
export const drainFold = (find: FindPorts) =>
  effect<FoldOutput, FoldInput>(async ({ agentId, key }, cancellation) => {
    const ports = find(agentId)
    const { conversation, definition, frame, clock } = ports
    const terms = foldTerms(frame)
    const { frameTokens } = frame
    const policy = definition.braking!.fold!
    if (policy.indexTokens > 0 && isFoldDue(conversation, policy, frameTokens, terms))
      await readInSlices(conversation, cancellation)
    const plan = planFold(conversation, policy, frameTokens, key, terms)
    const at = clock.now()
    if (plan === undefined)
      return { key, outcome: null, contextTokens: requestTokens(ports, conversation.trunkTokens), at }
    const economics = economicsFor(ports, sizesOfFold(conversation, plan))
    return { key, outcome: { ...plan.outcome, economics }, contextTokens: requestTokens(ports, plan.trunkTokens), at }
  })

/** Reads the names for a fold in slices, because the first fold after a restart reads the whole log and must not block timers and sockets. */
export async function readInSlices(conversation: Conversation, cancellation: Cancellation): Promise<void> {
  const breathe = breather()
  for (const _ of readNames(conversation)) {
    await breathe()
    cancellation.throwIfAborted()
  }
}
