import type { NodeId } from '../protocol/ids.ts'
import { renderIndex, renderMemo, type BrakeNote } from './brakeNotes.ts'
import { factsOf, renderFacts } from './facts.ts'
import { digestOf } from './foldLine.ts'
import type { HiddenSpan, HiddenSubject, ShownIndex } from './hiddenSteps.ts'
import type { ConversationNode, Step } from './node.ts'

/** Whether a hidden step would be shown if it were not hidden: it is on the trunk, and no summary stands for it. */
export const isLeft = (id: NodeId, subject: HiddenSubject): boolean => subject.onTrunk(id) && !isSummarised(id, subject)

const isSummarised = (id: NodeId, { overlay }: HiddenSubject): boolean =>
  overlay !== undefined && id >= overlay.from && id <= overlay.to

/** The hidden step in whose place the notes of a span stand; `undefined` when nothing of it is left. */
export const noteStep = ({ steps }: HiddenSpan, subject: HiddenSubject): NodeId | undefined =>
  steps.find((id) => isLeft(id, subject))

/** Whether all of a span is left: what stands for it is as it was written. */
export const isWhole = ({ steps }: HiddenSpan, subject: HiddenSubject): boolean =>
  steps.every((id) => isLeft(id, subject))

/** What stands for the steps that a prune or fold hides: its memo, and their facts. Of a fold, for those that are left. */
export function notesOfSpan(span: HiddenSpan, subject: HiddenSubject): BrakeNote[] {
  const { fold, memo } = span
  if (fold === undefined) {
    const steps = span.steps.map((id) => stepOf(id, subject))
    return [...(memo === undefined ? [] : [memoNote(memo, span.steps)]), ...factsNote(steps)]
  }
  const left = span.steps.filter((id) => isLeft(id, subject))
  const steps = (): Step[] => left.map((id) => stepOf(id, subject))
  const note = memoNote(memoOf(span, left, subject)!, left)
  // The lines name the calls that cannot be undone, and a fold hides no denial.
  return fold.detail === 'digest' ? [note, ...factsNote(steps())] : [note]
}

/** What a memo says of some of the steps that it stands for; that of a prune is of one piece. `undefined` without a memo. */
export function memoOf(span: HiddenSpan, steps: readonly NodeId[], subject: HiddenSubject): string | undefined {
  const { fold, memo } = span
  if (fold === undefined || memo === undefined || steps.length === span.steps.length) return memo
  if (fold.detail === 'digest') return digestOf(steps.map((id) => stepOf(id, subject)))
  const wanted = new Set(steps)
  const lines = memo.split('\n').filter((_, index) => wanted.has(span.steps[index]!))
  return lines.join('\n')
}

const memoNote = (memo: string, steps: readonly NodeId[]): BrakeNote => ({
  kind: 'memo',
  text: renderMemo(memo, steps),
})

function factsNote(steps: readonly Step[]): BrakeNote[] {
  const ids = steps.map(({ id }) => id)
  const text = renderFacts(factsOf(steps.flatMap(({ nodes }) => nodes)), ids)
  return text === '' ? [] : [{ kind: 'facts', text }]
}

export const indexNote = ({ text }: ShownIndex): BrakeNote => ({ kind: 'index', text: renderIndex(text) })

/** The nodes of a step have ids that follow each other. */
export function stepOf(id: NodeId, subject: Pick<HiddenSubject, 'node'>): Step {
  const nodes: ConversationNode[] = []
  for (let node = subject.node(id); node?.stepId === id; node = subject.node(node.id + 1)) nodes.push(node)
  return { id, endId: nodes.at(-1)?.id ?? id, nodes }
}
