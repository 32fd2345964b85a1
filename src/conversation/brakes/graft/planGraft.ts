import type { GraftOutcome, GraftRequest } from '../../../protocol/braking.ts'
import { formatNodeId, parseNodeId, type NodeId } from '../../../protocol/ids.ts'
import type { Conversation } from '../../tree/conversation.ts'
import { cutEnd } from '../../../protocol/text/cutMiddle.ts'
import { copiesOf, isEmptyCopy, originalOf, type Copied } from './grafts.ts'
import type { ConversationNode } from '../../tree/node.ts'
import { stepOf } from '../prune/pruneNotes.ts'
import { noRoom } from '../noRoom.ts'
import { whyHidden } from '../whyHidden.ts'

export const mostGraftedSteps = 100
/** Maximum number of reasons in the refusal of one request, because a refusal stays visible to the model. */
const mostReasons = 10

/** Inputs of a graft beside the conversation. */
export interface GraftSituation {
  /** Tools that request a reshaping. Their calls are left out, because they were answered where they were made. */
  readonly asking: ReadonlySet<string>
  /** True if the model can recall hidden steps. */
  readonly canRecall: boolean
  /** Number of tokens by which the trunk may grow, as the conversation counts them. */
  readonly room: number
  /** Highest id given out so far. */
  readonly lastNodeId: NodeId
  /** Steps that earlier requests of the same drain copy, each with the id of its copy. */
  readonly taken: ReadonlyMap<NodeId, NodeId>
}

export interface GraftPlan {
  readonly outcome: GraftOutcome
  readonly tokens: number
  /** The steps that are copied, each with the id of its copy. */
  readonly steps: ReadonlyMap<NodeId, NodeId>
}

/**
 * Decides which abandoned steps are copied to the end of the trunk: whole steps of the model, in their original order. It never copies a message of a
 * person, or a step that is already on the trunk, shown or hidden. Pure.
 */
export function planGraft(conversation: Conversation, request: GraftRequest, situation: GraftSituation): GraftPlan {
  const { id, steps: requested } = request
  if (requested.length > mostGraftedSteps)
    return refused(request, [
      `it names ${requested.length} steps, and at most ${mostGraftedSteps} can be copied at once`,
    ])
  const chosen = new Map<NodeId, readonly ConversationNode[]>()
  const reasons: string[] = []
  for (const asked of requested) {
    const found = findStep(conversation, asked, situation)
    if (typeof found === 'string') reasons.push(found)
    else if (chosen.has(found[0]!.id)) reasons.push(`${formatNodeId(parseNodeId(asked)!)} is named twice`)
    else chosen.set(found[0]!.id, found)
  }
  const copies: Copied[] = []
  const steps = new Map<NodeId, NodeId>()
  let { lastNodeId } = situation
  for (const [step, nodes] of [...chosen].toSorted(([a], [b]) => a - b)) {
    steps.set(step, lastNodeId + 1)
    for (const node of nodes) copies.push({ nodeId: (lastNodeId += 1), from: node.id })
  }
  const made = copiesOf(copies, { runId: '', turnIndex: 0 }, { ...subjectOf(conversation), lastNodeId })
  const tokens = made.reduce((sum, node) => sum + node.tokens, 0)
  if (tokens > situation.room) {
    return refused(request, [noRoom(conversation, 'the copies', tokens, situation.room)])
  }
  if (copies.length === 0) return refused(request, reasons.length === 0 ? ['it names no step'] : reasons)
  return { outcome: { id, applied: true, requested, copies, ...reasonOf(reasons) }, tokens, steps }
}

const subjectOf = (conversation: Conversation) => ({
  counter: conversation.counter,
  path: conversation.path,
  node: (id: NodeId) => conversation.node(id),
  onTrunk: (id: NodeId) => conversation.onTrunk(id),
  stepEnd: (node: ConversationNode) => conversation.stepEnd(node),
  hasCall: (callId: string) => conversation.hasCall(callId),
})

const refused = ({ id, steps }: GraftRequest, reasons: readonly string[]): GraftPlan => ({
  outcome: { id, applied: false, requested: steps, copies: [], ...reasonOf(reasons) },
  tokens: 0,
  steps: new Map(),
})

function reasonOf(reasons: readonly string[]): { readonly reason?: string } {
  if (reasons.length === 0) return {}
  const told = reasons.slice(0, mostReasons)
  if (told.length < reasons.length) told.push(`and ${reasons.length - told.length} more`)
  return { reason: `graft refused: ${told.join('; ')}` }
}

/** Returns the nodes to copy for a step, named by any of its ids, or the reason for a refusal. */
function findStep(
  conversation: Conversation,
  asked: string,
  { asking, taken, canRecall }: GraftSituation,
): readonly ConversationNode[] | string {
  const id = parseNodeId(asked)
  const name = id === undefined ? JSON.stringify(cutEnd(asked, 40)) : formatNodeId(id)
  const named = id === undefined ? undefined : conversation.node(id)
  if (named === undefined) return `${name} ${whyNoStep(conversation, id)}`
  const [reply, ...rest] = stepOf(conversation.node(originalOf(named))!.stepId, conversation).nodes
  if (reply!.message.role === 'user') return `${name} is a message of the user, and those are never repeated`
  const place = placeOnTrunk(conversation, named, reply!.id, canRecall)
  if (place !== undefined) return `${name} ${place}`
  const copy = taken.get(reply!.id)
  if (copy !== undefined) return `${name} is on the trunk already, as ${formatNodeId(copy)}`
  const results = rest.filter(({ message }) => message.role === 'toolResult' && !asking.has(message.toolName))
  return isEmptyCopy(reply!, results)
    ? `${name} holds nothing to copy: thinking and requests to reshape the conversation are left out`
    : [reply!, ...results]
}

function whyNoStep(conversation: Conversation, id: NodeId | undefined): string {
  if (id === undefined) return 'is not the id of a step'
  if (conversation.summaryEnd(id) !== undefined) return 'is a summary, not a step: name the steps that it stands for'
  // An open step is not on the trunk yet, and its results have their ids already.
  const isOpen = id <= conversation.lastNodeId && id > (conversation.log().findLast(isWhole(conversation))?.id ?? 0)
  return isOpen ? 'is not finished: a call still waits for its result' : 'not found'
}

const isWhole =
  (conversation: Conversation) =>
  ({ id }: ConversationNode): boolean =>
    conversation.node(id) !== undefined

/** Describes the place of a step, or of its copy, on the trunk; `undefined` if it is not there. */
function placeOnTrunk(
  conversation: Conversation,
  named: ConversationNode,
  original: NodeId,
  canRecall: boolean,
): string | undefined {
  const found = conversation.path.find((node) => node.id === original || node.copiedFrom === original)
  if (found === undefined) return undefined
  const as = found.stepId === named.stepId ? '' : `, as ${formatNodeId(found.id)}`
  const { overlay } = conversation
  const how = canRecall ? ': recall reads it' : ''
  switch (whyHidden(conversation, stepOf(found.id, conversation).nodes)) {
    case 'hidden':
      return `is on the trunk${as}, but hidden${how}`
    case 'summarised':
      return `is on the trunk${as}, but compacted into ${formatNodeId(overlay!.nodeId)}${how}`
    default:
      return `is on the trunk already${as}`
  }
}
