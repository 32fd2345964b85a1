import type { PruneOutcome, RevertOutcome, RevertRequest } from '../../../protocol/braking.ts'
import { formatNodeId, type NodeId } from '../../../protocol/ids.ts'
import { tagText } from '../../request/brakeNotes.ts'
import type { Conversation } from '../../tree/conversation.ts'
import { evidenceOf } from '../evidence.ts'
import type { ConversationNode } from '../../tree/node.ts'
import { applyPrune } from '../prune/planPrune.ts'
import { applyRevert, brakeTools, resolveStep, type RevertPlan, type RevertRules, type Written } from './planRevert.ts'

/** Returns true if a revert may be held back until it pays: the model requested it in order to condense finished work. */
export const mayWait = ({ by, category, undo }: RevertRequest): boolean =>
  by === 'model' && undo === undefined && (category === 'completion' || category === 'step-summary')

/** Plan of a held-back revert after work has continued. It hides the steps that it was to condense, and no later ones. */
export interface HeldPlan extends RevertPlan {
  readonly steps: readonly NodeId[]
}

/**
 * Plans the steps that a held-back revert would condense now. Returns a string for a refusal. `asked`: the end of the step that asked; `taken`: steps
 * that another request is about to hide. Pure.
 */
export function planHeld(
  conversation: Conversation,
  request: RevertRequest,
  rules: RevertRules,
  asked: ConversationNode | undefined,
  taken: ReadonlySet<NodeId> = new Set(),
): HeldPlan | string {
  const found = resolveStep(conversation, request.step)
  if (typeof found === 'string') return found
  const { target, name } = found
  if (asked === undefined || !conversation.onTrunk(target.id))
    return 'revert refused: it was held back, and what it was to condense is no longer on the trunk'
  const { path, overlay, annotations } = conversation
  const span = path.slice(target.depth, asked.depth)
  const mayHide = ({ id, stepId, message }: ConversationNode): boolean =>
    id === stepId &&
    message.role === 'assistant' &&
    annotations?.hiddenBy(id) === undefined &&
    annotations?.isPinned(id) !== true &&
    !taken.has(id) &&
    (overlay === undefined || id > overlay.to)
  const steps = span.filter(mayHide).map(({ id }) => id)
  if (steps.length === 0) return `revert refused: it was held back, and nothing after ${name} is left to condense`
  return { target, span, users: [], evidence: evidenceOf(span, rules.ignoredTools ?? brakeTools), steps }
}

/** Returns the prune that carries out a held-back revert. Its memo has the text of the revert's note. Pure. */
export function applyHeld(
  conversation: Conversation,
  request: RevertRequest,
  plan: HeldPlan,
  written: Written,
): PruneOutcome {
  const { tag } = applyRevert(request, plan, written, { turnIndex: 0, lastNodeId: 0 })
  const memo = `${tag.kind}: ${tagText(tag, (id) => conversation.node(id)?.message.content ?? [])}`
  return applyPrune(conversation, { id: request.id, by: 'model', steps: plan.steps.map(formatNodeId), memo })
}

/** Returns the outcome of the revert itself: a refusal that names the steps hidden in its place. */
export function carriedOutAs(request: RevertRequest, { steps }: PruneOutcome): RevertOutcome {
  const named = [...new Set([steps[0]!, steps.at(-1)!])].map(formatNodeId).join('–')
  const why = 'it was held back, and the work has gone on since'
  return refusalOf(request, `revert refused: ${why}; ${named} is hidden instead, with the summary in its place`)
}

/** Returns a refusal that names no other steps, because naming one would not help. */
export const refusalOf = ({ id, category, step }: RevertRequest, reason: string): RevertOutcome => ({
  id,
  applied: false,
  category,
  requested: step,
  reason,
})
