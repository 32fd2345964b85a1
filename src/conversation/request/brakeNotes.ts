import type { Tag } from '../../protocol/braking.ts'
import type { NodeId } from '../../protocol/ids.ts'
import type { Block } from '../../protocol/messages.ts'
import { textOf } from '../../protocol/text/messageText.ts'
import { stillChanged } from '../brakes/evidence.ts'
import { cutMiddle, oneLine } from '../../protocol/text/cutMiddle.ts'
import { brakeMarkers } from './markers.ts'
import { neutralise } from './renderMessage.ts'
import { spanOf } from '../brakes/spanOf.ts'

/** A text block that the runtime adds to the messages. */
export interface BrakeNote {
  readonly kind: string
  readonly text: string
}

/** Returns a note by the runtime. Its text is neutralised, so that nothing in it can pass for the runtime's markup. */
export const note = (kind: string, steps: readonly NodeId[], text: string): string =>
  `<brake-note kind="${kind}"${spanOf(steps)}>${neutralise(text, brakeMarkers)}</brake-note>`

/** Renders a tag as the model sees it: the text, then the evidence. `quote` returns the nodes to quote verbatim. */
export const renderTag = (tag: Tag, quote: (id: NodeId) => readonly Block[]): string =>
  note(tag.kind, tag.abandoned, tagText(tag, quote))

/** Returns the content of a tag as plain text. */
export function tagText(tag: Tag, quote: (id: NodeId) => readonly Block[]): string {
  const { calls, children = [], background = [] } = tag.evidence
  const changed = stillChanged(tag)
  const evidence = calls.map(({ name, attempts, lastError }) => {
    const error = lastError === undefined ? '' : ` → ${JSON.stringify(lastError)}`
    return `${name}${error} (${attempts} ${attempts === 1 ? 'attempt' : 'attempts'})`
  })
  return [
    tag.text.trim().replace(/\.$/, ''),
    evidence.length === 0 ? '' : `evidence: ${evidence.join(', ')}`,
    changed.length === 0 ? '' : `still changed: ${changed.join(', ')}`,
    ...undoText(tag.undo),
    children.length === 0 ? '' : `sub-agents: ${children.map(describeChild).join(', ')}`,
    background.length === 0
      ? ''
      : `in the background: ${background.map(({ id, ...call }) => describeChild({ agentId: id, ...call })).join(', ')}`,
    ...(tag.keepVerbatim ?? []).map((id) => `word for word: ${cutMiddle(textOf(quote(id)), 4_000)}`),
    ...quotedReply(tag, quote, 1_000),
  ]
    .filter((part) => part !== '')
    .join('; ')
}

/** Maximum number of items of a kind that a note names. The record and the page name all. */
const mostNamed = 20

/** Lists the changes that were undone, and those that were not, grouped by reason. */
function undoText(undo: Tag['undo']): string[] {
  if (undo === undefined) return []
  const { undone, kept } = undo
  if (undone.length + kept.length === 0) return ['nothing was to be undone']
  const reasons = Map.groupBy(kept, ({ why }) => why)
  const left = [...reasons].map(([why, all]) => `${named(all.map(({ what }) => what))} (${why})`)
  return [
    ...(undone.length === 0 ? [] : [`undone, as it was before: ${named(undone)}`]),
    ...(left.length === 0 ? [] : [`not undone: ${left.join(', ')}`]),
  ]
}

function named(names: readonly string[]): string {
  const more = names.length - mostNamed
  return [...names.slice(0, mostNamed), ...(more > 0 ? [`and ${more} more`] : [])].join(', ')
}

/** Quotes the last reply of the agent in the span, in at most `maxChars` characters; empty without one. */
const quotedReply = ({ lastReply }: Tag, quote: (id: NodeId) => readonly Block[], maxChars: number): string[] =>
  lastReply === undefined ? [] : [`last reply: ${cutMiddle(textOf(quote(lastReply)).trim(), maxChars)}`]

const describeChild = ({ agentId, name, aborted }: { agentId: string; name: string; aborted: boolean }): string =>
  `${name} ${agentId} (${aborted ? 'aborted' : 'goes on'})`

/** Renders several checkpoints as one note, each shortened. It is always built from the checkpoints, never from an earlier combined note. */
export function renderRollUp(tags: readonly Tag[], quote: (id: NodeId) => readonly Block[]): string {
  const text = tags.map((tag) => oneLine(tag.text, 400)).join(' | ')
  const changed = [...new Set(tags.flatMap(stillChanged))]
  const files = changed.length === 0 ? '' : `; still changed: ${changed.join(', ')}`
  const quotes = tags
    .flatMap(({ keepVerbatim = [] }) => keepVerbatim)
    .map((id) => `; word for word: ${cutMiddle(textOf(quote(id)), 1_000)}`)
    .join('')
  const replies = tags.flatMap((tag) => quotedReply(tag, quote, 400)).map((reply) => `; ${reply}`)
  const abandoned = tags.flatMap((tag) => tag.abandoned)
  return note('checkpoint', abandoned, `${text}${files}${quotes}${replies.join('')}`)
}

/** A message of the runtime to the model after a step: the reason of a refusal, a notice about a loop, or a request of a policy. */
export interface Notice {
  readonly kind: 'refusal' | 'stall' | 'policy'
  readonly text: string
  /** The summary after which the notice stands, if it already covered the newest step. */
  readonly summary?: NodeId
}

export const renderNotice = ({ kind, text }: Notice): string => note(kind, [], text)

/** Renders the note shown in place of pruned steps. */
export const renderMemo = (memo: string, steps: readonly NodeId[]): string => note('memo', steps, memo)

/** Renders the names that occur only in hidden steps. Each line has the id of a step, then its names. */
export const renderIndex = (index: string): string => note('index', [], `\n${index}\n`)
