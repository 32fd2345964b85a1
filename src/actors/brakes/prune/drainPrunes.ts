import { planAskedFold, type FoldPlan } from '../../../conversation/brakes/fold/planFold.ts'
import { applyPrune } from '../../../conversation/brakes/prune/prune.ts'
import { sizesOfFold, sizesOfPrune } from '../../../conversation/limits/trunkSizes.ts'
import { usedByAsking } from '../../../conversation/brakes/usedByAsking.ts'
import type { DrainInput, DrainOutput } from '../../../machines/drainTypes.ts'
import type { PruneOutcome, PruneRequest } from '../../../protocol/braking.ts'
import type { AgentPorts, FindPorts } from '../../agentPorts.ts'
import { readInSlices } from '../fold/drainFold.ts'
import { economicsFor } from '../economicsFor.ts'
import { effect } from '../../effect.ts'
import { requestTokens } from '../../turn/requestTokens.ts'

const fold = (
  { conversation, definition, frame }: AgentPorts,
  request: PruneRequest,
  taken: ReadonlySet<number>,
): FoldPlan | string => {
  const { braking } = definition
  const { frameTokens } = frame
  const policy = request.policy === undefined ? braking?.fold : braking?.policies?.fold
  if (policy == null) return 'fold refused: folding is off'
  return planAskedFold(conversation, policy, frameTokens, request, taken)
}

const refused = (id: string, reason: string): PruneOutcome => ({ id, applied: false, steps: [], tokens: 0, reason })

/** The effect of `draining.prunes`: decides what each queued prune hides. */
export const drainPrunes = (find: FindPorts) =>
  effect<DrainOutput<'prune'>, DrainInput<'prune'>>(async (input, cancellation) => {
    const ports = find(input.agentId)
    const { conversation, redactor } = ports
    if (input.requests.some((request) => request.fold === true)) await readInSlices(conversation, cancellation)
    const taken = new Set<number>()
    const outcomes: PruneOutcome[] = []
    let trunkTokens = conversation.trunkTokens
    let unchanged = Infinity
    for (const asked of input.requests) {
      const request = redactor?.value(asked) ?? asked
      const folded = request.fold === true ? fold(ports, request, taken) : undefined
      const plan = typeof folded === 'string' ? undefined : folded
      const outcome =
        typeof folded === 'string'
          ? refused(request.id, folded)
          : (plan?.outcome ?? applyPrune(conversation, request, taken))
      if (!outcome.applied) {
        outcomes.push(outcome)
        continue
      }
      for (const step of outcome.steps) taken.add(step)
      const sizes = plan === undefined ? sizesOfPrune(conversation, outcome) : sizesOfFold(conversation, plan)
      const after = trunkTokens - sizes.before + sizes.after
      // What an earlier one of this drain rewrites already costs nothing more.
      const rewritten = Math.max(0, Math.min(unchanged, after) - sizes.unchanged)
      const own = { before: trunkTokens, after, unchanged: after - rewritten }
      outcomes.push({ ...outcome, economics: economicsFor(ports, own, usedByAsking(conversation, request)) })
      trunkTokens = after
      unchanged = Math.min(unchanged, sizes.unchanged)
    }
    return { key: input.key, outcomes, contextTokens: requestTokens(ports, trunkTokens), at: ports.clock.now() }
  })
