import type { PruneOutcome, PruneRequest } from '../../../protocol/braking.ts'
import type { NodeId } from '../../../protocol/ids.ts'
import { formatNodeId, parseNodeId } from '../../../protocol/text/nodeIds.ts'
import type { Conversation } from '../../tree/conversation.ts'
import { cutEnd } from '../../../protocol/text/cutMiddle.ts'
import { freedByMask, tokensOfShown } from '../../request/maskedResults.ts'
import type { Step } from '../../tree/node.ts'

/** Maximum number of reasons in the refusal of one request, because a refusal stays visible to the model. */
const mostReasons = 10

/** Returns the reason why a step may not be hidden; `undefined` if it may. */
export function whyNotHidden(conversation: Conversation, { id, endId, nodes }: Step): string | undefined {
  const { overlay, annotations, head } = conversation
  if (nodes[0]!.message.role !== 'assistant') return 'is a user message'
  if (endId === head) return 'is the newest step'
  if (overlay !== undefined && id <= overlay.to) return 'is at or before a compaction summary'
  if (annotations?.isPinned(id) === true) return 'is pinned'
  if (annotations?.isWorking(id) === true) return 'has a call that works in the background'
  return annotations?.hiddenBy(id) === undefined ? undefined : 'is hidden already'
}

/** Returns the reason why a step may not be hidden if neither a person nor the model asks for it; `undefined` if it may. */
export function whyNotHiddenUnasked(conversation: Conversation, step: Step): string | undefined {
  const isWanted = conversation.annotations?.isShownAgain(step.id) === true
  return whyNotHidden(conversation, step) ?? (isWanted ? 'was shown again on request' : undefined)
}

export interface WayToHide {
  readonly tokensOf: (step: Step, conversation: Conversation) => number
  readonly whyNot: (step: Step, conversation: Conversation) => string | undefined
  /** Text after "there is no step" in the refusal if nothing may be hidden. */
  readonly steps: string
}

export const tokensOfStep = ({ nodes }: Step, conversation: Conversation): number =>
  nodes.reduce((sum, node) => sum + tokensOfShown(node, conversation), 0)

const pruning: WayToHide = { tokensOf: tokensOfStep, whyNot: () => undefined, steps: 'that' }

const masking: WayToHide = {
  tokensOf: freedByMask,
  whyNot(step, conversation) {
    if (conversation.annotations?.masked.has(step.id) === true) return 'has its output hidden already'
    return freedByMask(step, conversation) > 0 ? undefined : 'has no output that is longer than what would stand for it'
  },
  steps: 'of which the output',
}

/** The requested steps that may be hidden, oldest first, and the reasons for the rest. */
export interface ChosenSteps {
  readonly steps: readonly Step[]
  readonly reason?: string
}

/**
 * Chooses the steps that a prune hides: the named whole steps of the model, or the oldest until `tokens` are hidden. It never hides a message of a
 * person, a pinned step, the newest step (which made the call), a step at or before a compaction summary, or a step that the way of hiding excludes.
 * Pure.
 */
export function chooseSteps(
  conversation: Conversation,
  request: Pick<PruneRequest, 'steps' | 'tokens' | 'policy'>,
  taken: ReadonlySet<NodeId> = new Set(),
  way: WayToHide = pruning,
): ChosenSteps {
  const steps = conversation.steps()
  const whyNot = (step: Step): string | undefined => {
    const fixed = (request.policy === undefined ? whyNotHidden : whyNotHiddenUnasked)(conversation, step)
    return fixed ?? (taken.has(step.id) ? 'is hidden already' : way.whyNot(step, conversation))
  }
  const reasons: string[] = []
  const chosen = new Set<Step>()
  if (request.steps === undefined) {
    let left = request.tokens ?? 0
    for (const step of steps) {
      if (left <= 0) break
      if (whyNot(step) !== undefined) continue
      chosen.add(step)
      left -= way.tokensOf(step, conversation)
    }
  } else {
    const named = namedSteps(steps, request.steps, whyNot)
    for (const step of named.chosen) chosen.add(step)
    reasons.push(...named.reasons)
  }
  if (chosen.size === 0 && reasons.length === 0) {
    const pinned = steps.filter((step) => whyNot(step) === 'is pinned').map(({ endId }) => formatNodeId(endId))
    const why = pinned.length === 0 ? '' : ` (pinned: ${cutEnd(pinned.join(', '), 120)})`
    reasons.push(`there is no step ${way.steps} may be hidden${why}`)
  }
  return { steps: [...chosen].toSorted((a, b) => a.id - b.id), ...toldReasons(reasons) }
}

/** Looks steps up by the names of any of their nodes. Returns the ones that may be chosen, each once, and the reasons for the rest. */
export function namedSteps(
  steps: readonly Step[],
  names: readonly string[],
  whyNot: (step: Step) => string | undefined,
): { readonly chosen: ReadonlySet<Step>; readonly reasons: readonly string[] } {
  const byNode = new Map(steps.flatMap((step) => step.nodes.map(({ id }) => [id, step])))
  const chosen = new Set<Step>()
  const reasons: string[] = []
  for (const name of names) {
    const id = parseNodeId(name)
    const step = byNode.get(id ?? 0)
    const why = step === undefined ? 'is not on the current trunk' : whyNot(step)
    if (why === undefined) chosen.add(step!)
    else reasons.push(`${id === undefined ? JSON.stringify(cutEnd(name, 40)) : formatNodeId(id)} ${why}`)
  }
  return { chosen, reasons }
}

/** Returns the reasons of a refusal in one text, the first of them if there are many. */
export function toldReasons(reasons: readonly string[]): { readonly reason?: string } {
  if (reasons.length === 0) return {}
  const told = reasons.slice(0, mostReasons)
  if (told.length < reasons.length) told.push(`and ${reasons.length - told.length} more`)
  return { reason: told.join('; ') }
}

/** Returns the outcome of a prune: see `chooseSteps`. With `mask`, the results of the steps are masked. Pure. */
export function applyPrune(
  conversation: Conversation,
  request: PruneRequest,
  taken?: ReadonlySet<NodeId>,
): PruneOutcome {
  const { id, memo = '', policy } = request
  const isMask = request.mask === true
  const way = isMask ? masking : pruning
  const { steps, reason } = chooseSteps(conversation, request, taken, way)
  return {
    id,
    applied: steps.length > 0,
    steps: steps.map((step) => step.id),
    tokens: steps.reduce((sum, step) => sum + way.tokensOf(step, conversation), 0),
    ...(isMask ? { masked: true } : {}),
    ...(isMask || memo.trim() === '' ? {} : { memo }),
    ...(policy === undefined ? {} : { policy }),
    ...(reason === undefined ? {} : { reason: `${isMask ? 'mask' : 'prune'} refused: ${reason}` }),
  }
}
