import { formatNodeId, type NodeId } from '../../protocol/ids.ts'
import { textOf, type ToolResultMessage } from '../../protocol/messages.ts'
import type { Conversation } from '../tree/conversation.ts'
import { maskOf } from '../request/maskedResults.ts'
import { NameLedger, type NameEntry } from './nameLedger.ts'
import { namesIn, shortestName } from './names.ts'
import type { ConversationNode } from '../tree/node.ts'

/** Scores the likely use of a name by its own worth, how often and how recently the agent wrote it, and the age of its home step. */
const scoreOf = ({ worth, homePlace, uses, lastUse }: NameEntry, now: number): number =>
  worth -
  0.5 * Math.log2(1 + now - homePlace) +
  (uses === 0 ? 0 : 2 * Math.log2(1 + uses) + Math.max(0, 6 - Math.log2(1 + now - lastUse)))

/** Returns true if the request hides a node of the trunk, or will hide it once these steps are folded. */
function isHidden({ id, stepId }: ConversationNode, conversation: Conversation, folded?: ReadonlySet<NodeId>): boolean {
  const { annotations, overlay } = conversation
  if (folded?.has(stepId) === true || annotations?.hiddenBy(stepId) !== undefined) return true
  return overlay !== undefined && id >= overlay.from && id <= overlay.to && !overlay.kept.includes(id)
}

/** Returns the masked form of a shown node; `undefined` if no mask changes it. */
const maskIn = (node: ConversationNode, { annotations }: Conversation): ToolResultMessage | undefined =>
  annotations?.masked.has(node.stepId) === true ? maskOf(node) : undefined

/**
 * Reads the names that the next index is made from, a message at a time: all messages of a conversation that has just been rebuilt, only the new ones
 * of any other. Without it `nameIndex` reads them at once.
 */
export function* readNames(conversation: Conversation): Generator<void> {
  const ledger = NameLedger.of(conversation)
  yield* ledger.learn(conversation)
  for (const node of conversation.path) {
    if (isHidden(node, conversation) || maskIn(node, conversation) !== undefined) ledger.house(node)
    else ledger.namesOf(node)
    yield
  }
}

/**
 * Returns the names that occur only in hidden steps and masked results once `folded` are hidden too, the most useful first, in at most `maxChars`.
 * Each line has a step's id, then its names. `written` is the text that the request shows in place of hidden steps. Pure.
 */
export function nameIndex(
  conversation: Conversation,
  folded: ReadonlySet<NodeId>,
  written: string,
  maxChars: number,
): string {
  const ledger = NameLedger.of(conversation)
  for (const _ of ledger.learn(conversation));
  ledger.forgetAbandoned(conversation)
  const present = namesIn(written)
  for (const node of conversation.path) {
    if (isHidden(node, conversation, folded)) {
      ledger.house(node)
      continue
    }
    const mask = maskIn(node, conversation)
    if (mask !== undefined) ledger.house(node)
    const shown = mask === undefined ? ledger.namesOf(node).keys() : namesIn(textOf(mask.content))
    for (const name of shown) present.add(name)
  }
  const isHome = (step: ConversationNode): boolean =>
    isHidden(step, conversation, folded) || conversation.annotations?.masked.has(step.id) === true
  const isLost = ({ name, home }: NameEntry): boolean => !present.has(name) && isHome(conversation.node(home)!)
  const lost: Ranked[] = []
  for (const entry of ledger.candidates(Math.ceil(maxChars / (shortestName + 1)), isLost))
    lost.push({ entry, score: scoreOf(entry, ledger.now) })
  return linesOf(lost.toSorted(byRank), maxChars)
}

interface Ranked {
  readonly entry: NameEntry
  readonly score: number
}

/** Compares two names, the best first. Two names never rank the same, so the order in which they were found does not matter. */
const byRank = (a: Ranked, b: Ranked): number =>
  b.score - a.score || b.entry.home - a.entry.home || (a.entry.name < b.entry.name ? -1 : 1)

function linesOf(ranked: readonly Ranked[], maxChars: number): string {
  const groups = new Map<NodeId, string[]>()
  let left = maxChars
  for (const { entry } of ranked) {
    const { home, name } = entry
    const group = groups.get(home)
    left -= name.length + 1 + (group === undefined ? formatNodeId(home).length + 1 : 0)
    if (left < 0) break
    if (group === undefined) groups.set(home, [name])
    else group.push(name)
  }
  return [...groups]
    .toSorted(([a], [b]) => a - b)
    .map(([home, names]) => `${formatNodeId(home)} ${names.join(' ')}`)
    .join('\n')
}
