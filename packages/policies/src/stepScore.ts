import type { NodeId } from '../../../src/protocol/ids.ts'
import type { ConversationView } from '../../../src/conversation/tree/conversationView.ts'
import { namesIn, wordsOf } from '../../../src/conversation/names/names.ts'
import type { ConversationNode, Step } from '../../../src/conversation/tree/node.ts'
import { stepOf } from '../../../src/conversation/brakes/prune/pruneNotes.ts'
import { printOf, type StepPrint } from '../../../src/conversation/brakes/stall/stepPrint.ts'
import { recallName } from '../../../src/conversation/tree/stepText.ts'

/** Facts about a step of the model from which its worth is computed. */
export interface StepMerits {
  readonly calls: number
  readonly failed: number
  /** True if a call succeeded that changed a file or cannot be undone. */
  readonly hasChanged: boolean
  /** True if the step made the same calls with the same results as an earlier step, and nothing was changed in between. */
  readonly repeats: boolean
  /** Share of names in the step's results that were new to the conversation. */
  readonly newShare: number
  /** Number of the new names that the agent has written since. */
  readonly used: number
  /** True if a person denied one of the step's calls. */
  readonly isDenied: boolean
}

export type ScoredConversation = Pick<ConversationView, 'head' | 'node'>

/**
 * The merits of the steps of a conversation. They are computed incrementally, so each new step costs its own length, and depend on the log alone.
 * Steps that a revert abandoned count, because the agent saw their results.
 */
export class StepRecord {
  readonly #merits = new Map<NodeId, StepMerits & { used: number }>()
  /** All names so far. A name that a result showed first and the agent has not written yet is stored with its step. */
  readonly #seen = new Set<string>()
  readonly #unused = new Map<string, NodeId>()
  /** Calls with their results, and the newest step that made them. */
  readonly #made = new Map<string, NodeId>()
  #lastChange: NodeId = 0
  #last: NodeId = 0

  static of(conversation: ScoredConversation): StepRecord {
    let record = records.get(conversation)
    if (record === undefined) records.set(conversation, (record = new StepRecord()))
    return record
  }

  /** Adds the new steps. Yields after each. Several callers may take turns. */
  *learn(conversation: ScoredConversation): Generator<void> {
    while (this.#last < (conversation.head ?? 0)) {
      const node = conversation.node((this.#last += 1))
      // Summaries have ids too.
      if (node === undefined) continue
      const step = stepOf(node.stepId, conversation)
      this.#last = step.endId
      if (node.message.role === 'user') for (const name of namesOf(node)) this.#seen.add(name)
      else this.#take(step, node)
      yield
    }
  }

  /** Returns the merits of a step. `undefined` for a message from a person and for an unknown step. */
  meritsOf(stepId: NodeId): StepMerits | undefined {
    return this.#merits.get(stepId)
  }

  #take({ id, nodes }: Step, reply: ConversationNode): void {
    for (const name of namesOf(reply)) this.#use(name)
    const results = nodes.slice(1)
    const shown = new Set(results.flatMap((node) => [...namesOf(node)]))
    const fresh = [...shown].filter((name) => !this.#seen.has(name))
    for (const name of fresh) {
      this.#seen.add(name)
      this.#unused.set(name, id)
    }
    const print = printOf(reply, () => results)
    this.#merits.set(id, {
      calls: results.length,
      failed: results.filter(({ message }) => message.role === 'toolResult' && message.isError).length,
      hasChanged: print?.changes === true,
      repeats: print !== null && this.#repeats(id, print),
      newShare: shown.size === 0 ? 0 : fresh.length / shown.size,
      used: 0,
      isDenied: results.some(({ message }) => message.role === 'toolResult' && message.synthetic === 'denied'),
    })
    if (print?.changes === true) this.#lastChange = id
  }

  /** Notes that the agent wrote a name, so the step that showed it first was useful. */
  #use(name: string): void {
    this.#seen.add(name)
    const source = this.#unused.get(name)
    if (source === undefined) return
    this.#unused.delete(name)
    this.#merits.get(source)!.used += 1
  }

  #repeats(id: NodeId, { calls, results, polls }: StepPrint): boolean {
    const made = `${calls} ${results}`
    const before = this.#made.get(made) ?? 0
    this.#made.set(made, id)
    return before > this.#lastChange && !polls
  }
}

const records = new WeakMap<ScoredConversation, StepRecord>()

function namesOf(node: ConversationNode): ReadonlySet<string> {
  const { message } = node
  // Recalled text was first shown elsewhere.
  if (message.role === 'toolResult' && message.toolName === recallName) return noNames
  return namesIn(wordsOf(node))
}

const noNames: ReadonlySet<string> = new Set()

/** Parts of a score, in hundredths. */
const weights = { made: 20, changed: 40, new: 25, used: 35 }
/** Score of a step that repeats another: it only shows that nothing has changed. */
const ofRepeat = 5
/** Score of text without calls: a plan, or an answer to a person. */
export const wordsScore = 0.5

/**
 * Scores the worth of a step from 0 to 1, in hundredths: 1 if a person denied a call, since that must not be lost; 0.5 for text alone; 0.05 for a
 * repetition. Other steps get 0.2 if any call succeeded, 0.4 if one changed something, up to 0.25 for new names, and up to 0.35 for new names that
 * the agent used later, at most 1 together. Pure.
 */
export function stepScore({ calls, failed, hasChanged, repeats, newShare, used, isDenied }: StepMerits): number {
  if (isDenied) return 1
  if (calls === 0) return wordsScore
  if (repeats) return ofRepeat / 100
  const points =
    (failed < calls ? weights.made : 0) +
    (hasChanged ? weights.changed : 0) +
    weights.new * newShare +
    (used > 0 ? weights.used : 0)
  return Math.min(100, Math.round(points)) / 100
}
