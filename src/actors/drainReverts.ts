import { applyRevert, planRevert, refuseRevert } from '../conversation/revert.ts'
import type { ConversationNode } from '../conversation/node.ts'
import { sizesOfRevert } from '../conversation/trunkSizes.ts'
import { usedByAsking } from '../conversation/usedByAsking.ts'
import type { RevertsInput, RevertsOutput } from '../machines/drainTypes.ts'
import { addUsage, noUsage } from '../protocol/messages.ts'
import type { RevertOutcome } from '../protocol/braking.ts'
import { costOf } from './pricing.ts'
import type { FindPorts } from './agentPorts.ts'
import { economicsFor } from './economicsFor.ts'
import { effect } from './effect.ts'
import { requestTokens } from './requestTokens.ts'
import { writeTagText } from './writeTagText.ts'

/** The effect of `draining.reverts`: decides every queued revert against the trunk as it stands, one applied at the most. */
export const drainReverts = (find: FindPorts) =>
  effect<RevertsOutput, RevertsInput>(async (input, { signal }) => {
    const ports = find(input.agentId)
    const { conversation, definition, clock, redactor } = ports
    const { turnIndex, lastNodeId } = input
    const outcomes: RevertOutcome[] = []
    let newHead: ConversationNode | undefined
    let trunkTokens = conversation.trunkTokens
    for (const asked of input.requests) {
      const request = redactor?.value(asked) ?? asked
      const plan = planRevert(conversation, request, definition.braking!.revert!, newHead === undefined)
      if (typeof plan === 'string') {
        outcomes.push(refuseRevert(request, plan, conversation, newHead))
        continue
      }
      const written = await ports.within({ type: 'drain' }, () => writeTagText(ports, request, plan, signal))
      const spent =
        written.usage === undefined ? {} : { usage: written.usage, costUsd: costOf(written.usage, definition.pricing) }
      if (written.refusal !== undefined) {
        outcomes.push({ ...refuseRevert(request, written.refusal, conversation, newHead), ...spent })
        continue
      }
      const children = ports.children?.abandon(Math.min(...plan.span.map((node) => node.turnIndex))) ?? []
      const evidence = children.length === 0 ? plan.evidence : { ...plan.evidence, children }
      const outcome = applyRevert(request, { ...plan, evidence }, written, { turnIndex, lastNodeId })
      const sizes = sizesOfRevert(conversation, outcome)
      const used = addUsage(usedByAsking(conversation, request), written.usage ?? noUsage)
      outcomes.push({ ...outcome, ...spent, economics: economicsFor(ports, sizes, used) })
      newHead = plan.target
      trunkTokens = sizes.after
    }
    return { key: input.key, outcomes, contextTokens: requestTokens(ports, trunkTokens), at: clock.now() }
  })
