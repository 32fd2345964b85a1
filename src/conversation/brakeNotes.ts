import type { Tag } from '../protocol/braking.ts'
import { formatNodeId, type NodeId } from '../protocol/ids.ts'
import { textOf, type Block } from '../protocol/messages.ts'
import { cutEnd, cutMiddle } from './cutMiddle.ts'

/** Makes text that looks like an id or a note of ours harmless. Rendered text only: what is stored stays as it was. */
export const neutralise = (text: string): string =>
  text.replace(/\[(n\d+)\]/gi, '($1)').replace(/<(?=\/?(?:brake-note|conversation-summary))/gi, '‹')

/** A step's id as the model sees it: a line of its own. */
export const renderId = (id: NodeId): string => `[${formatNodeId(id)}]`

const spanOf = (ids: readonly NodeId[]): string => {
  const [first] = ids
  const last = ids.at(-1)
  if (first === undefined || last === undefined) return ''
  return ` span="${first === last ? formatNodeId(first) : `${formatNodeId(first)}–${formatNodeId(last)}`}"`
}

/** A tag as the model sees it: the text, then the evidence. `quote` gives the nodes that are kept word for word. */
export function renderTag(tag: Tag, quote: (id: NodeId) => readonly Block[]): string {
  const { calls, changed, children = [] } = tag.evidence
  const evidence = calls.map(({ name, attempts, lastError }) => {
    const error = lastError === undefined ? '' : ` → ${JSON.stringify(lastError)}`
    return `${name}${error} (${attempts} ${attempts === 1 ? 'attempt' : 'attempts'})`
  })
  const parts = [
    tag.text.trim().replace(/\.$/, ''),
    evidence.length === 0 ? '' : `evidence: ${evidence.join(', ')}`,
    changed.length === 0 ? '' : `still changed: ${changed.join(', ')}`,
    children.length === 0 ? '' : `sub-agents: ${children.map(describeChild).join(', ')}`,
    ...(tag.keepVerbatim ?? []).map((id) => `word for word: ${cutMiddle(textOf(quote(id)), 4_000)}`),
  ].filter((part) => part !== '')
  return `<brake-note kind="${tag.kind}"${spanOf(tag.abandoned)}>${neutralise(parts.join('; '))}</brake-note>`
}

const describeChild = ({ agentId, name, aborted }: { agentId: string; name: string; aborted: boolean }): string =>
  `${name} ${agentId} (${aborted ? 'aborted' : 'goes on'})`

/** Several checkpoints as one note, each cut short; always made from the checkpoints themselves, never from such a note. */
export function renderRollUp(tags: readonly Tag[], quote: (id: NodeId) => readonly Block[]): string {
  const text = tags.map((tag) => cutEnd(tag.text.replace(/\s+/g, ' ').trim(), 400)).join(' | ')
  const changed = [...new Set(tags.flatMap(({ evidence }) => evidence.changed))]
  const files = changed.length === 0 ? '' : `; still changed: ${changed.join(', ')}`
  const quotes = tags
    .flatMap(({ keepVerbatim = [] }) => keepVerbatim)
    .map((id) => `; word for word: ${cutMiddle(textOf(quote(id)), 1_000)}`)
    .join('')
  return `<brake-note kind="checkpoint"${spanOf(tags.flatMap(({ abandoned }) => abandoned))}>${neutralise(`${text}${files}${quotes}`)}</brake-note>`
}

/** Why a revert did not happen, for the model that asked for it. */
export const renderRefusal = (reason: string): string => `<brake-note kind="refusal">${neutralise(reason)}</brake-note>`

/** What stands in place of pruned steps. */
export const renderMemo = (memo: string, steps: readonly NodeId[]): string =>
  `<brake-note kind="memo"${spanOf(steps)}>${neutralise(memo)}</brake-note>`
