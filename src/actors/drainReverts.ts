import { renderTag } from '../conversation/brakeNotes.ts'
import { applyRevert, planRevert, refuseRevert } from '../conversation/revert.ts'
import type { ConversationNode } from '../conversation/node.ts'
import type { RevertsInput, RevertsOutput } from '../machines/agentTypes.ts'
import type { NodeId } from '../protocol/ids.ts'
import type { Block } from '../protocol/messages.ts'
import type { RevertOutcome } from '../protocol/braking.ts'
import { costOf } from './pricing.ts'
import type { AgentPorts, FindPorts } from './agentPorts.ts'
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
      outcomes.push({ ...applyRevert(request, { ...plan, evidence }, written, { turnIndex, lastNodeId }), ...spent })
      newHead = plan.target
    }
    return { key: input.key, outcomes, contextTokens: tokensAfter(ports, outcomes), at: clock.now() }
  })

/** Tokens of the next request: up to the target, the messages appended after it, and the tag's text. */
function tokensAfter(ports: AgentPorts, outcomes: readonly RevertOutcome[]): number {
  const { conversation } = ports
  const applied = outcomes.find((outcome) => outcome.applied)
  const target = applied?.target === undefined ? undefined : conversation.node(applied.target)
  if (target === undefined) return requestTokens(ports, conversation.trunkTokens)
  const left = (conversation.path.at(-1)?.pathTokens ?? 0) - target.pathTokens
  const again = (applied?.rebased ?? []).reduce((sum, { from }) => sum + (conversation.node(from)?.tokens ?? 0), 0)
  const quote = (id: NodeId): readonly Block[] => conversation.node(id)?.message.content ?? []
  const tag = applied?.tag === undefined ? 0 : conversation.counter.text(renderTag(applied.tag, quote))
  return requestTokens(ports, conversation.trunkTokens - left + again + tag)
}
