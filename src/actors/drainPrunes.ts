import { applyPrune } from '../conversation/prune.ts'
import type { PrunesInput, PrunesOutput } from '../machines/agentTypes.ts'
import type { PruneOutcome } from '../protocol/braking.ts'
import type { FindPorts } from './agentPorts.ts'
import { effect } from './effect.ts'
import { requestTokens } from './requestTokens.ts'

/** The effect of `draining.prunes`: decides what each queued prune hides. */
export const drainPrunes = (find: FindPorts) =>
  effect<PrunesOutput, PrunesInput>((input) => {
    const ports = find(input.agentId)
    const { conversation, redactor } = ports
    const taken = new Set<number>()
    const outcomes: PruneOutcome[] = []
    for (const asked of input.requests) {
      const request = redactor?.value(asked) ?? asked
      const outcome = applyPrune(conversation, request, taken)
      for (const step of outcome.steps) taken.add(step)
      outcomes.push(outcome)
    }
    const hidden = outcomes.reduce((sum, { tokens }) => sum + tokens, 0)
    const contextTokens = requestTokens(ports, conversation.trunkTokens - hidden)
    return { key: input.key, outcomes, contextTokens, at: ports.clock.now() }
  })
