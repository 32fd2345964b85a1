import type { NodeId } from '../../../protocol/ids.ts'
import { renderIndex, renderMemo, type BrakeNote } from '../../request/brakeNotes.ts'
import { factsOf, renderFacts } from '../../tree/facts.ts'
import { digestOf } from '../fold/foldLine.ts'
import { isLeft, isWhole, type HiddenSpan, type HiddenSubject, type ShownIndex } from '../hiddenSpan.ts'
import type { ConversationNode, Step } from '../../tree/node.ts'

/** Cached notes of complete spans, which do not change and are requested at every change of the trunk. */
const wholeNotes = new WeakMap<object, readonly BrakeNote[]>()

/** Returns the notes that replace the steps hidden by a prune or fold: its memo, and their facts. For a fold, these cover the remaining steps. */
export function notesOfSpan(span: HiddenSpan, subject: HiddenSubject): readonly BrakeNote[] {
  if (!isWhole(span, subject)) return notesOf(span, subject)
  let notes = wholeNotes.get(span)
  if (notes === undefined) wholeNotes.set(span, (notes = notesOf(span, subject)))
  return notes
}

function notesOf(span: HiddenSpan, subject: HiddenSubject): BrakeNote[] {
  const { steps, fold, memo } = span
  if (fold === undefined) {
    return [...(memo === undefined ? [] : [memoNote(memo, steps)]), ...factsNote(steps, subject)]
  }
  const left = steps.filter((id) => isLeft(id, subject))
  const note = memoNote(memoOf(span, left, subject)!, left)
  // The lines name the calls that cannot be undone, and a fold hides no denial.
  return fold.detail === 'digest' ? [note, ...factsNote(left, subject)] : [note]
}

/** Returns the part of a memo about some of its steps. The memo of a prune is always returned whole. Returns `undefined` without a memo. */
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

function factsNote(steps: readonly NodeId[], subject: HiddenSubject): BrakeNote[] {
  const text = renderFacts(factsOf(steps.flatMap((id) => stepOf(id, subject).nodes)), steps)
  return text === '' ? [] : [{ kind: 'facts', text }]
}

export const indexNote = ({ text }: ShownIndex): BrakeNote => ({ kind: 'index', text: renderIndex(text) })

/** Returns the step with this id. The nodes of a step have consecutive ids. */
export function stepOf(id: NodeId, subject: Pick<HiddenSubject, 'node'>): Step {
  const nodes: ConversationNode[] = []
  for (let node = subject.node(id); node?.stepId === id; node = subject.node(node.id + 1)) nodes.push(node)
  return { id, endId: nodes.at(-1)?.id ?? id, nodes }
}
