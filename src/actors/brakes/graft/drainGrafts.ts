import { planGraft } from '../../../conversation/brakes/graft/planGraft.ts'
import { brakeTools, ignoredTools } from '../../../conversation/brakes/revert/planRevert.ts'
import { graftBrake } from '../../../protocol/brakes/graft/graftBrake.ts'
import { recallName } from '../../../conversation/tree/stepText.ts'
import { usedByAsking } from '../../../conversation/brakes/usedByAsking.ts'
import type { DrainInput, DrainOutput } from '../../../machines/drainTypes.ts'
import type { GraftOutcome } from '../../../protocol/braking.ts'
import type { NodeId } from '../../../protocol/ids.ts'
import type { FindPorts } from '../../agentPorts.ts'
import { economicsFor } from '../economicsFor.ts'
import { mostTokens } from '../mostTokens.ts'
import { effect } from '../../effect.ts'
import { requestTokens } from '../../turn/estimates.ts'

/** The effect of `draining.grafts`: decides which abandoned steps each queued graft copies. */
export const drainGrafts = (find: FindPorts) =>
  effect<DrainOutput<'graft'>, DrainInput<'graft'>>((input) => {
    const ports = find(input.agentId)
    const { conversation, definition, redactor, clock } = ports
    const asking = definition.braking?.graft === true ? ignoredTools([graftBrake.tool]) : brakeTools
    const canRecall = definition.braking !== null && definition.tools.has(recallName)
    const taken = new Map<NodeId, NodeId>()
    const outcomes: GraftOutcome[] = []
    let { lastNodeId } = input
    let trunkTokens = conversation.trunkTokens
    for (const asked of input.requests) {
      const request = redactor?.value(asked) ?? asked
      const room = mostTokens(ports) - trunkTokens
      const { outcome, steps, tokens } = planGraft(conversation, request, {
        asking,
        canRecall,
        room,
        lastNodeId,
        taken,
      })
      if (!outcome.applied) {
        outcomes.push(outcome)
        continue
      }
      for (const [step, copy] of steps) taken.set(step, copy)
      const sizes = { before: trunkTokens, after: trunkTokens + tokens, unchanged: trunkTokens }
      outcomes.push({ ...outcome, economics: economicsFor(ports, sizes, usedByAsking(conversation, request)) })
      trunkTokens = sizes.after
      lastNodeId = outcome.copies.at(-1)!.nodeId
    }
    return { key: input.key, outcomes, contextTokens: requestTokens(ports, trunkTokens), at: clock.now() }
  })
