import { isLikelyBug } from '../../../protocol/callbackBugs.ts'
import { cutMiddle } from '../../../protocol/text/cutMiddle.ts'
import {
  overlayOf,
  percent,
  planCompaction,
  tooLittle,
  type CompactionPlan,
} from '../../../conversation/brakes/compaction/planCompaction.ts'
import { shownOfSpan } from '../../../conversation/brakes/compaction/shownOfSpan.ts'
import { sizesOfCompaction } from '../../../conversation/limits/trunkSizes.ts'
import type { CompactInput, CompactOutput } from '../../../machines/drainTypes.ts'
import { messageOf } from '../../../protocol/errors.ts'
import type { Usage } from '../../../protocol/messages.ts'
import type { Model } from '../../../protocol/ports/model.ts'
import { toldBy } from '../../turn/countUsage.ts'
import { requestTokens } from '../../turn/estimates.ts'
import { costOf } from '../../turn/pricing.ts'
import type { AgentPorts, FindPorts } from '../../agentPorts.ts'
import { usualCompaction } from '../../define/compactionOptions.ts'
import { through } from '../../models/openStream.ts'
import { economicsFor } from '../economicsFor.ts'
import { effect } from '../../effect.ts'
import { askAbout } from '../../turn/askAbout.ts'
import type { AskedAbout } from '../../turn/askModel.ts'
import { heuristicStrategy, type Summary } from './summariseSpan.ts'

/** The effect of `compacting`: plans the span, has it summarised, and refuses a result that saves too little. */
export const compactTrunk = (find: FindPorts) =>
  effect<CompactOutput, CompactInput>(async (input, { signal }) => {
    const ports = find(input.agentId)
    const { conversation, definition, frame } = ports
    const tokensBefore = requestTokens(ports, conversation.trunkTokens)
    const refuse = (reason: string, summary?: Summary): CompactOutput => ({
      key: input.key,
      overlay: null,
      reason,
      tokensBefore,
      tokensAfter: tokensBefore,
      usage: summary?.usage ?? null,
      costUsd: summary?.usage === undefined ? 0 : costOf(summary.usage, frame.pricing),
      at: ports.clock.now(),
    })
    const { policy } = definition.compaction ?? usualCompaction
    // After an overflow, or when a person asks, anything that makes the request smaller is worth it.
    const wanted = input.force ? { ...policy, minShrink: Number.MIN_VALUE } : policy
    const plan = planCompaction(conversation, wanted, frame.frameTokens, input.force)
    if (typeof plan === 'string') return refuse(plan)
    // Not in the machine's step, and for a log that has what is summarised.
    await ports.durable()

    const how = { focus: ports.redactor?.value(input.focus) ?? input.focus, signal }
    const { summary, reason } =
      plan.summary === undefined
        ? await ports.within({ type: 'compaction' }, () => summarise(ports, plan, how))
        : { summary: { text: plan.summary }, reason: onlyCut }
    const text = cutMiddle(ports.redactor?.text(summary.text) ?? summary.text, policy.maxSummaryTokens * 4)
    const overlay = overlayOf(plan, 0, text, policy)
    const sizes = sizesOfCompaction(conversation, overlay)
    const tokensAfter = requestTokens(ports, sizes.after)
    const shrink = 1 - tokensAfter / tokensBefore
    if (shrink < wanted.minShrink)
      return refuse(`it would save only ${percent(shrink)} % of the request, ${tooLittle(wanted)}`, summary)
    const { nodeId: _, ...body } = overlay
    const economics = economicsFor(ports, sizes, summary.usage)
    return { ...refuse('', summary), overlay: body, reason, tokensAfter, economics }
  })

const onlyCut = 'there was nothing to summarise, so long outputs of the newest steps were cut'

/** Runs the configured strategy, or the heuristic if that fails, with a reason. */
async function summarise(
  ports: AgentPorts,
  plan: CompactionPlan,
  { focus, signal }: { readonly focus: string | undefined; readonly signal: AbortSignal },
): Promise<{ summary: Summary; reason: string | null }> {
  const { definition, frame, conversation, clock } = ports
  const { policy, strategy } = definition.compaction ?? usualCompaction
  const limited = (model: Model): Model => through(ports.gate(), model)
  const previous = conversation.overlay
  const span = shownOfSpan(conversation, plan)
  const context = {
    model: limited(frame.model),
    limited,
    maxTokens: policy.maxSummaryTokens,
    counter: definition.counter,
    clock,
    signal,
    askAbout: (asked: Omit<AskedAbout, 'span' | 'hasEarlier'>) =>
      askAbout(ports, { ...asked, span, hasEarlier: previous !== undefined }),
    ...(previous === undefined ? {} : { previous: previous.summary }),
    ...(focus === undefined ? {} : { focus }),
  }
  const unused = focus === undefined ? null : 'the heuristic takes no focus'
  try {
    const summary = await strategy.summarise(span, context)
    return { summary, reason: strategy === heuristicStrategy ? unused : null }
  } catch (thrown) {
    if (isLikelyBug(thrown)) ports.callbackFailed?.(`The compaction strategy "${strategy.name}"`, thrown)
    const reason = `strategy "${strategy.name}" failed, so the heuristic was used: ${messageOf(thrown)}`
    const { usage } = (thrown ?? {}) as { readonly usage?: Partial<Usage> }
    const summary = await heuristicStrategy.summarise(span, context)
    return { summary: usage === undefined ? summary : { ...summary, usage: toldBy(usage) }, reason }
  }
}
