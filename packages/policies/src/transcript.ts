import type { ConversationView } from '../../../src/conversation/tree/conversationView.ts'
import { cutMiddle, oneLine } from '../../../src/protocol/text/cutMiddle.ts'
import { bestLine, type Search } from '../../../src/conversation/tree/excerpt.ts'
import { foldLine } from '../../../src/conversation/brakes/fold/foldLine.ts'
import { parseNodeId } from '../../../src/protocol/ids.ts'
import { transcriptMarkers } from '../../../src/conversation/request/markers.ts'
import { neutralise } from '../../../src/conversation/request/renderMessage.ts'
import { stepOf } from '../../../src/conversation/brakes/prune/pruneNotes.ts'
import type { Recalled } from '../../../src/conversation/brakes/recall/recall.ts'
import {
  addHeld,
  holdsNothing,
  ranked,
  termsOf,
  weightsOf,
  type Found,
} from '../../../src/conversation/tree/searchSteps.ts'

/** A step of a conversation in its transcript. */
export interface TranscriptStep {
  /** Step id, such as `n12`. */
  readonly id: string
  readonly role: 'user' | 'assistant'
  readonly tokens: number
  /** Reason why the step may not be hidden, such as `'is pinned'`. */
  readonly fixed?: string
  text(): string
}

/** Maximum number of characters of a page and of the outline. */
const pageChars = 12_000
const outlineChars = 30_000
const outlineLineChars = 160
const mostFound = 10
const mostNamed = 20
const hitChars = 240

const harmless = (text: string): string => neutralise(text, transcriptMarkers)

/** Renders steps as a text in which no content can end an entry. Steps longer than `maxChars` are cut in the middle. */
export const transcriptOfSteps = (steps: readonly TranscriptStep[], maxChars: number): string =>
  `<transcript>\n${cutMiddle(steps.map((step) => entryOf(step)).join('\n'), maxChars)}\n</transcript>`

function entryOf(step: TranscriptStep, maxChars = Infinity): string {
  const { id, role, tokens, fixed } = step
  const from = role === 'user' ? 'user' : 'agent'
  const head = `<transcript-entry id="${id}" from="${from}" tokens="${tokens}"${fixed === undefined ? '' : ` fixed="${fixed}"`}>`
  return `${head}\n${harmless(cutMiddle(step.text(), maxChars))}\n</transcript-entry>`
}

/** Returns a line for each step, oldest first, as far as there is room. The last line counts the missing steps. */
export function outlineOf(steps: readonly TranscriptStep[], conversation: Pick<ConversationView, 'node'>): string {
  const lines: string[] = []
  let room = outlineChars
  for (const step of steps) {
    const line = harmless(outlineLine(step, conversation))
    if (line.length >= room) break
    lines.push(line)
    room -= line.length + 1
  }
  const missing = steps.slice(lines.length)
  if (missing.length > 0) lines.push(`${spanned(missing)}: ${missing.length} more, ${tokensOf(missing)} tokens`)
  return lines.join('\n')
}

function outlineLine(step: TranscriptStep, conversation: Pick<ConversationView, 'node'>): string {
  const { id, role, tokens, fixed } = step
  const nodeId = parseNodeId(id)
  const stepId = nodeId === undefined ? undefined : conversation.node(nodeId)?.stepId
  const line =
    role === 'user' || stepId === undefined
      ? oneLine(step.text().slice(0, 4 * outlineLineChars), outlineLineChars)
      : foldLine(stepOf(stepId, conversation)).replace(/^n\d+ /, '')
  const from = role === 'user' ? 'user' : 'agent'
  return `${id} (${from}, ${tokens} tokens${fixed === undefined ? '' : `, ${fixed}`}) ${oneLine(line, outlineLineChars)}`
}

/** Returns the steps in a range of ids, as many as fit in a page. */
export function transcriptPage(steps: readonly TranscriptStep[], from: string, to = from): Recalled {
  const [one, other] = [parseNodeId(from), parseNodeId(to)]
  if (one === undefined || other === undefined) return noStep(steps, one === undefined ? from : to)
  const [first, last] = [Math.min(one, other), Math.max(one, other)]
  const wanted = steps.filter((step) => {
    const id = parseNodeId(step.id)!
    return id >= first && id <= last
  })
  if (wanted.length === 0) return noStep(steps, first === last ? from : `${from}–${to}`)
  const entries: string[] = []
  let room = pageChars
  for (const step of wanted) {
    const entry = entryOf(step, pageChars)
    if (entries.length > 0 && entry.length > room) break
    entries.push(entry)
    room -= entry.length + 1
  }
  const left = wanted.slice(entries.length)
  if (left.length > 0) entries.push(`(${spanned(left)} not shown: read on from ${left[0]!.id}.)`)
  return { text: entries.join('\n'), isError: false }
}

function noStep(steps: readonly TranscriptStep[], id: string): Recalled {
  const known = steps.length === 0 ? 'there are none' : `their ids are ${spanned(steps)}, not all of them in use`
  return { text: `There is no step ${JSON.stringify(id.slice(0, 40))}: ${known}.`, isError: true }
}

/** Returns the steps that contain words or names of a text, best first, each with the line that contains most of them. */
export function searchTranscript(steps: readonly TranscriptStep[], text: string): Recalled {
  const terms = termsOf(text)
  if (terms.length === 0) return { text: 'There is no word and no name to look for.', isError: true }
  const texts = steps.map((step) => step.text())
  const found = texts.flatMap((said, place): Found | [] => {
    const held = holdsNothing()
    addHeld(held, said, terms)
    return held.terms.size === 0 ? [] : { stepId: place, held }
  })
  if (found.length === 0) return { text: 'No step holds any of it.', isError: false }
  const weights = weightsOf(terms, found, steps.length)
  const best = ranked(found, weights)
  const lines = best.slice(0, mostFound).map(({ stepId }) => {
    const said = texts[stepId]!
    const line = finished(bestLine(said, terms, weights))?.line ?? 0
    return harmless(`${steps[stepId]!.id}: ${oneLine(said.slice(line, line + 4 * hitChars), hitChars)}`)
  })
  const others = best.slice(mostFound)
  const named = others.slice(0, mostNamed).map(({ stepId }) => steps[stepId]!.id)
  const rest = others.length - named.length
  if (named.length > 0) lines.push(`(also in ${named.join(', ')}${rest === 0 ? '' : ` and ${rest} more`})`)
  return { text: lines.join('\n'), isError: false }
}

function finished<T>(search: Search<T>): T {
  let next = search.next()
  while (next.done !== true) next = search.next()
  return next.value
}

const tokensOf = (steps: readonly TranscriptStep[]): number => steps.reduce((sum, { tokens }) => sum + tokens, 0)

const spanned = (steps: readonly TranscriptStep[]): string =>
  steps.length === 1 ? steps[0]!.id : `${steps[0]!.id}–${steps.at(-1)!.id}`
