import { formatNodeId, parseNodeId, type NodeId } from '../../../protocol/ids.ts'
import type { Conversation } from '../../tree/conversation.ts'
import { cutEnd } from '../../../protocol/text/cutMiddle.ts'
import { bestLine, excerptAround, linesBetween, slice, type ExcerptLimits, type Search } from '../../tree/excerpt.ts'
import type { ConversationNode } from '../../tree/node.ts'
import { stepOf } from '../prune/pruneNotes.ts'
import {
  defaultLines,
  headOf,
  nothingToLookFor,
  readExcerpt,
  type ExcerptRequest,
  type Read,
} from '../../tree/readExcerpt.ts'
import { addHeld, holdsNothing, ranked, termsOf, weightsOf, type Found, type Term } from '../../tree/searchSteps.ts'
import { piecesOf } from '../../tree/stepText.ts'
import { shownCopies, whyHidden, type HiddenReason } from '../whyHidden.ts'

/** Recall request: a step, the parts of a step that match the query, or the steps that match the query. */
export interface RecallRequest extends ExcerptRequest {
  /** Id of the step as it was given. */
  readonly step?: string | undefined
}

/** The recalled text, or the reason why there is none. */
export type Recalled = Read

export const defaultRecallLines = defaultLines
export const mostRecallLines = 400
/** Maximum number of characters in an answer, without the lines that name the source of its excerpts. */
const mostChars = 12_000
const mostSteps = 3
/** Maximum number of further matching steps that are named. */
const mostNamed = 10

/**
 * Answers from the log with steps that the next request does not show in full. The answer is bounded, with each excerpt under the id of its step. A
 * search reads all hidden steps, at some 3 ms per million characters, and keeps no index. While it is paused, the conversation may only grow.
 */
export function recall(conversation: Conversation, request: RecallRequest): Search<Recalled> {
  return request.step === undefined
    ? recallFound(conversation, request)
    : recallStep(conversation, request, request.step)
}

const answer = (text: string): Recalled => ({ text, isError: false })
const refusal = (text: string): Recalled => ({ text, isError: true })
const quoted = (text: string): string => JSON.stringify(cutEnd(text, 80))

function* recallStep(conversation: Conversation, request: RecallRequest, step: string): Search<Recalled> {
  if (request.query !== undefined && termsOf(request.query).length === 0)
    return refusal(nothingToLookFor(request.query))
  const found = findStep(conversation, step)
  if (typeof found === 'string') return refusal(found)
  return yield* readExcerpt(textOfStep(found), { ...request, name: formatNodeId(found.id), what: found.reason })
}

/** Returns the nodes of a hidden step, named by any of its ids, or the reason why there is nothing to recall. */
function findStep(conversation: Conversation, step: string): HiddenStep | string {
  const id = parseNodeId(step)
  const node = id === undefined ? undefined : conversation.node(id)
  if (id === undefined || node === undefined) return whyNoStep(conversation, step, id)
  const nodes = stepOf(node.stepId, conversation).nodes
  const reason = whyHidden(conversation, nodes)
  const shownAs = reason === undefined ? repeatOf(conversation, node.id) : shownCopies(conversation).get(node.stepId)
  if (reason !== undefined && shownAs === undefined) return { id: node.stepId, nodes, reason }
  return `${formatNodeId(id)} is shown in full above${shownAs === undefined ? '' : `, as ${formatNodeId(shownAs)}`}.`
}

function whyNoStep(conversation: Conversation, step: string, id: NodeId | undefined): string {
  const last = id === undefined ? undefined : conversation.summaryEnd(id)
  if (last !== undefined)
    return `${formatNodeId(id!)} is a summary, not a step: give the id of a step that it stands for, up to ${formatNodeId(last.id)}, or a "query".`
  const newest = formatNodeId(newestId(conversation))
  return `There is no step ${quoted(step)}: the newest is ${newest}. Give the id of one step, such as "n12", or a "query".`
}

interface HiddenStep {
  readonly id: NodeId
  readonly nodes: readonly ConversationNode[]
  readonly reason: HiddenReason
}

/** Returns the highest id of a node. Ids are assigned before a step is complete. */
function newestId(conversation: Conversation): NodeId {
  let id = conversation.lastNodeId
  while (id > 0 && conversation.node(id) === undefined) id -= 1
  return id
}

function repeatOf(conversation: Conversation, id: NodeId): NodeId | undefined {
  if (conversation.onTrunk(id)) return undefined
  const repeats = (node: ConversationNode | undefined): boolean => {
    const from = node?.rebasedFrom
    return from !== undefined && (from === id || repeats(conversation.node(from)))
  }
  return conversation.path.find(repeats)?.id
}

function* recallFound(
  conversation: Conversation,
  { query = '', lines: most = defaultRecallLines }: RecallRequest,
): Search<Recalled> {
  const terms = termsOf(query)
  if (terms.length === 0) return refusal(nothingToLookFor(query))
  const { found, steps } = yield* searchHidden(conversation, terms)
  if (steps === 0) return refusal('Nothing is hidden: every step is shown in full above.')
  if (found.length === 0) return answer(`No hidden step holds anything of ${quoted(query)}.`)
  const weights = weightsOf(terms, found, steps)
  const best = ranked(found, weights)
  const shown = best.slice(0, Math.min(mostSteps, most))
  let limits: ExcerptLimits = { lines: most, chars: mostChars }
  let isCut = false
  const parts: string[] = []
  for (const [place, { stepId }] of shown.entries()) {
    const step = findStep(conversation, formatNodeId(stepId)) as HiddenStep
    const text = textOfStep(step)
    const at = (yield* bestLine(text, terms, weights)) ?? { line: 0, hit: 0 }
    const share = shown.length - place
    const excerpt = excerptAround(text, at, {
      lines: Math.floor(limits.lines / share),
      chars: Math.floor(limits.chars / share),
    })
    limits = { lines: limits.lines - excerpt.lines, chars: limits.chars - excerpt.text.length }
    const all = 1 + (yield* linesBetween(text, 0, text.length))
    const first = 1 + (yield* linesBetween(text, 0, excerpt.start))
    isCut ||= excerpt.isCut || excerpt.lines < all
    parts.push(`${headOf(`${formatNodeId(step.id)} (${step.reason})`, first, excerpt.lines, all)}\n${excerpt.text}`)
  }
  const notes = [
    ...(isCut ? ['for more of a step give its id as "step"'] : []),
    ...furtherSteps(best.slice(shown.length)),
  ]
  return answer([...parts, ...(notes.length === 0 ? [] : [`(${notes.join('; ')}.)`])].join('\n\n'))
}

function furtherSteps(others: readonly Found[]): string[] {
  if (others.length === 0) return []
  const named = others.slice(0, mostNamed).map(({ stepId }) => formatNodeId(stepId))
  const rest = others.length - named.length
  return [`also found in ${named.join(', ')}${rest === 0 ? '' : ` and ${rest} more`}`]
}

/** Returns the hidden steps that contain any of the terms, and the number of all hidden steps. */
function* searchHidden(
  conversation: Conversation,
  terms: readonly Term[],
): Search<{ readonly found: readonly Found[]; readonly steps: number }> {
  const found: Found[] = []
  let steps = 0
  let unread = slice
  const copies = shownCopies(conversation)
  for (let id = 1; id <= conversation.lastNodeId; id++) {
    const first = conversation.node(id)
    // A copy says nothing that its original does not say.
    if (first?.stepId !== id || first.copiedFrom !== undefined || copies.has(id)) continue
    const nodes = stepOf(id, conversation).nodes
    if (whyHidden(conversation, nodes) === undefined) continue
    steps += 1
    const held = holdsNothing()
    for (const piece of piecesOf(nodes)) {
      addHeld(held, piece, terms)
      unread -= piece.length
      if (unread > 0) continue
      yield
      unread = slice
    }
    if (held.terms.size > 0) found.push({ stepId: id, held })
  }
  return { found, steps }
}

const textOfStep = ({ nodes }: HiddenStep): string => [...piecesOf(nodes)].join('\n')
