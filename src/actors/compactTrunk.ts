import { cutMiddle } from '../conversation/cutMiddle.ts'
import { overlayOf, planCompaction, type CompactionPlan } from '../conversation/planCompaction.ts'
import { sizesOfCompaction } from '../conversation/trunkSizes.ts'
import type { CompactInput, CompactOutput } from '../machines/agentTypes.ts'
import { messageOf } from '../protocol/errors.ts'
import { costOf } from './pricing.ts'
import type { AgentPorts, FindPorts } from './agentPorts.ts'
import { economicsFor } from './economicsFor.ts'
import { effect } from './effect.ts'
import { requestTokens } from './requestTokens.ts'
import { heuristicStrategy, type Summary } from './summariseSpan.ts'

/** The effect of `compacting`: plans the span, has it summarised, and refuses a result that saves too little. */
export const compactTrunk = (find: FindPorts) =>
  effect<CompactOutput, CompactInput>(async (input, { signal }) => {
    const ports = find(input.agentId)
    const { conversation, definition } = ports
    const tokensBefore = requestTokens(ports, conversation.trunkTokens)
    const refuse = (reason: string, summary?: Summary): CompactOutput => ({
      key: input.key,
      overlay: null,
      reason,
      tokensBefore,
      tokensAfter: tokensBefore,
      usage: summary?.usage ?? null,
      costUsd: summary?.usage === undefined ? 0 : costOf(summary.usage, definition.pricing),
      at: ports.clock.now(),
    })
    if (definition.compaction === null) return refuse('compaction is off')
    const { policy } = definition.compaction
    const plan = planCompaction(conversation, policy, definition.frameTokens)
    if (plan === undefined) return refuse('the conversation has no middle to summarise')

    const { summary, reason } = await ports.within({ type: 'compaction' }, () => summarise(ports, plan, signal))
    const text = cutMiddle(ports.redactor?.text(summary.text) ?? summary.text, policy.maxSummaryTokens * 4)
    const overlay = overlayOf(plan, 0, text, policy)
    const sizes = sizesOfCompaction(conversation, overlay)
    const tokensAfter = requestTokens(ports, sizes.after)
    const shrink = 1 - tokensAfter / tokensBefore
    // After an overflow anything that makes the request smaller is worth the try.
    if (input.force ? shrink <= 0 : shrink < policy.minShrink) {
      return refuse(
        `it would save only ${Math.round(shrink * 100)} % of the request, less than ${policy.minShrink * 100} %`,
        summary,
      )
    }
    const { nodeId: _, ...body } = overlay
    const economics = economicsFor(ports, sizes, summary.usage)
    return { ...refuse('', summary), overlay: body, reason, tokensAfter, economics }
  })

/** The configured strategy; the heuristic when that fails, with a reason that says so. */
async function summarise(
  { definition, conversation, clock }: AgentPorts,
  plan: CompactionPlan,
  signal: AbortSignal,
): Promise<{ summary: Summary; reason: string | null }> {
  const { policy, strategy } = definition.compaction!
  const previous = conversation.overlay
  const covers = previous !== undefined && plan.span.some((node) => node.id === previous.to)
  const kept = new Set(plan.kept)
  const span = plan.span.filter(({ id, message }) => {
    if (covers && id >= previous.from && id <= previous.to)
      // Shown whole until now, so the summary before does not tell of it.
      return previous.kept.includes(id) && !kept.has(id)
    return message.role === 'user' || !kept.has(id)
  })
  const context = {
    model: definition.model,
    maxTokens: policy.maxSummaryTokens,
    counter: definition.counter,
    clock,
    signal,
    ...(covers ? { previous: previous.summary } : {}),
  }
  try {
    return { summary: await strategy.summarise(span, context), reason: null }
  } catch (thrown) {
    const reason = `strategy "${strategy.name}" failed, so the heuristic was used: ${messageOf(thrown)}`
    return { summary: await heuristicStrategy.summarise(span, context), reason }
  }
}
