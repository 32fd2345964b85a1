import { planAskedFold, type FoldPlan } from '../../../conversation/brakes/fold/planFold.ts'
import { planShow, type ShowPlan } from '../../../conversation/brakes/prune/planShow.ts'
import { applyPrune } from '../../../conversation/brakes/prune/planPrune.ts'
import { sizesOfFold, sizesOfPrune } from '../../../conversation/limits/trunkSizes.ts'
import { usedByAsking } from '../../../conversation/brakes/usedByAsking.ts'
import type { DrainInput, DrainOutput } from '../../../machines/drainTypes.ts'
import type { PruneOutcome, PruneRequest } from '../../../protocol/braking.ts'
import type { AgentPorts, FindPorts } from '../../agentPorts.ts'
import { readInSlices } from '../fold/drainFold.ts'
import { economicsFor } from '../economicsFor.ts'
import { mostTokens } from '../mostTokens.ts'
import { effect } from '../../effect.ts'
import { requestTokens } from '../../turn/estimates.ts'

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

/** Steps that earlier requests in the same drain hide or show. */
interface Taken {
  readonly hidden: ReadonlySet<number>
  readonly shown: ReadonlySet<number>
}

/** Returns the outcome of a request, and the sizes of the trunk before and after it. */
function planOf(ports: AgentPorts, request: PruneRequest, { hidden, shown }: Taken, room: number): ShowPlan {
  const { conversation } = ports
  if (request.show === true) return planShow(conversation, request, shown, room)
  const plan = request.fold === true ? fold(ports, request, hidden) : undefined
  if (typeof plan === 'object') return { outcome: plan.outcome, sizes: sizesOfFold(conversation, plan) }
  const outcome = plan === undefined ? applyPrune(conversation, request, hidden) : refused(request.id, plan)
  return { outcome, sizes: sizesOfPrune(conversation, outcome) }
}

/** The effect of `draining.prunes`: decides what each queued prune hides or shows again. */
export const drainPrunes = (find: FindPorts) =>
  effect<DrainOutput<'prune'>, DrainInput<'prune'>>(async (input, cancellation) => {
    const ports = find(input.agentId)
    const { conversation, redactor } = ports
    if (input.requests.some((request) => request.fold === true)) await readInSlices(conversation, cancellation)
    const taken = { hidden: new Set<number>(), shown: new Set<number>() }
    const outcomes: PruneOutcome[] = []
    let trunkTokens = conversation.trunkTokens
    let unchanged = Infinity
    // A fold counts with the memos as they are, and steps that are shown again change them.
    for (const asked of input.requests.toSorted((a, b) => Number(a.show === true) - Number(b.show === true))) {
      const request = redactor?.value(asked) ?? asked
      const { outcome, sizes } = planOf(ports, request, taken, mostTokens(ports) - trunkTokens)
      if (!outcome.applied) {
        outcomes.push(outcome)
        continue
      }
      for (const step of outcome.steps) taken[outcome.shown === true ? 'shown' : 'hidden'].add(step)
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
