import type { PruneOutcome, PruneRequest } from '../../../protocol/braking.ts'
import type { NodeId } from '../../../protocol/ids.ts'
import { formatNodeId } from '../../../protocol/text/nodeIds.ts'
import type { Sizes } from '../../limits/economics.ts'
import { sizesOfShow } from '../../limits/trunkSizes.ts'
import type { Conversation } from '../../tree/conversation.ts'
import type { Step } from '../../tree/node.ts'
import { noRoom } from '../noRoom.ts'
import { whyHidden } from '../whyHidden.ts'
import { namedSteps, toldReasons } from './planPrune.ts'

export interface ShowPlan {
  readonly outcome: PruneOutcome
  readonly sizes: Sizes
}

/**
 * Decides which hidden and masked steps are shown again. `taken`: steps that earlier requests of the same drain show. `room`: the number of tokens by
 * which the trunk may grow, as the conversation counts them; a request that needs more is refused as a whole. Pure.
 */
export function planShow(
  conversation: Conversation,
  { id, steps: names = [] }: Pick<PruneRequest, 'id' | 'steps'>,
  taken: ReadonlySet<NodeId>,
  room: number,
): ShowPlan {
  const whyNot = (step: Step): string | undefined =>
    taken.has(step.id) ? 'is not hidden' : whyNotShown(conversation, step)
  const { chosen, reasons } = namedSteps(conversation.steps(), names, whyNot)
  const steps = [...chosen].map((step) => step.id).toSorted((a, b) => a - b)
  const planned = { id, applied: true, shown: true, steps, tokens: 0, ...saidOf(reasons) } as const
  const sizes = sizesOfShow(conversation, planned)
  const tokens = Math.max(0, sizes.after - sizes.before)
  if (steps.length === 0) return refused(id, names.length === 0 ? ['it names no step'] : reasons, sizes)
  if (tokens > room) return refused(id, [noRoom(conversation, 'the steps', tokens, room)], sizes)
  return { outcome: { ...planned, tokens }, sizes }
}

function whyNotShown(conversation: Conversation, { nodes }: Step): string | undefined {
  switch (whyHidden(conversation, nodes)) {
    case 'hidden':
    case 'output hidden':
      return undefined
    case 'summarised':
      return `was compacted into ${formatNodeId(conversation.overlay!.nodeId)}`
    default:
      return 'is not hidden'
  }
}

const refused = (id: string, reasons: readonly string[], sizes: Sizes): ShowPlan => ({
  outcome: { id, applied: false, shown: true, steps: [], tokens: 0, ...saidOf(reasons) },
  sizes,
})

function saidOf(reasons: readonly string[]): { readonly reason?: string } {
  const { reason } = toldReasons(reasons)
  return reason === undefined ? {} : { reason: `show refused: ${reason}` }
}
