import type { Conversation } from '../tree/conversation.ts'
import type { ConversationNode } from '../tree/node.ts'

/** Sums over a trunk up to one of its nodes, in estimated tokens. */
interface Sums {
  readonly user: number
  /** Moving average of the tokens that one reply and the results of its calls add. */
  readonly growth: number
  readonly replies: number
  /** Tokens of the path to the message that the last reply answered. */
  readonly answered: number
}

const none: Sums = { user: 0, growth: 0, replies: 0, answered: 0 }
/** Weight of the newest difference in the mean. */
const newest = 0.1

function withNode(sums: Sums, { message, tokens, pathTokens, copiedFrom }: ConversationNode): Sums {
  // Copies come at once, and say nothing of how a request grows.
  if (copiedFrom !== undefined) return { ...sums, answered: sums.answered + tokens }
  if (message.role === 'user') return { ...sums, user: sums.user + tokens }
  if (message.role !== 'assistant') return sums
  const answered = pathTokens - tokens
  const added = answered - sums.answered
  const mean = sums.growth === 0 ? added : sums.growth + newest * (added - sums.growth)
  return { ...sums, growth: sums.replies === 0 ? 0 : mean, replies: sums.replies + 1, answered }
}

interface Kept {
  readonly sums: Sums[]
  epoch: number
}

const kept = new WeakMap<Conversation, Kept>()

/**
 * Returns the sums over a conversation's trunk, or with `at` up to a depth. Earlier sums are cached, so a call costs
 * only the new nodes. A conversation that never asks pays nothing.
 */
export function trunkSums(conversation: Conversation): Sums & { readonly at: (depth: number) => Sums } {
  const { path, epoch } = conversation
  let known = kept.get(conversation)
  if (known === undefined) kept.set(conversation, (known = { sums: [], epoch }))
  const { sums } = known
  if (known.epoch !== epoch)
    sums.length = Math.min(sums.length, Math.max(0, conversation.changedSince(known.epoch) - 1))
  known.epoch = epoch
  for (let i = sums.length; i < path.length; i++) sums.push(withNode(sums[i - 1] ?? none, path[i]!))
  return { ...(sums[path.length - 1] ?? none), at: (depth) => sums[depth - 1] ?? none }
}
