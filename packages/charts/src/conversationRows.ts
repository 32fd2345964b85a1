import { byPolicy } from './amounts.ts'
import type { ConversationModel, GraphStep, GraphTag } from './conversationModel.ts'

/** Kind of a note below a step: a tag, the memo of a prune, a summary that stands for steps, a sub-agent. */
export type RowNote = 'tag' | 'prune' | 'compaction' | 'agent'

/** One row of a conversation that is drawn like `git log --graph`; `depth` 0 is the trunk. */
export type ConversationRow =
  | { readonly type: 'step'; readonly depth: number; readonly step: GraphStep }
  /** A branch leaves the line of this depth here. */
  | { readonly type: 'branch'; readonly depth: number }
  | { readonly type: 'note'; readonly depth: number; readonly note: RowNote; readonly text: string }

/** Marks of the notes, each with its form in ASCII. */
export const noteMarks: Readonly<Record<RowNote, readonly [string, ascii: string]>> = {
  tag: ['⚑', '!'],
  prune: ['✂', '~'],
  compaction: ['⊟', '='],
  agent: ['↳', '>'],
}

interface Line {
  readonly depth: number
  /** Steps that follow the last one drawn. */
  next: readonly GraphStep[]
  /** The step of `next` that continues the line. */
  straight: GraphStep | undefined
  /** Number of steps of `next` that have been visited. */
  at: number
}

/** Yields the rows, oldest step first: the trunk straight on, branches beside the step they left. Not recursive: branches may be deep. */
export function* conversationRows(model: ConversationModel): Generator<ConversationRow> {
  const children = new Map<string | undefined, GraphStep[]>()
  for (const step of model.steps) {
    const siblings = children.get(step.parent)
    if (siblings === undefined) children.set(step.parent, [step])
    else siblings.push(step)
  }
  const notesAt = notesOf(model)
  const lines: Line[] = [lineOf(0, children.get(undefined) ?? [])]
  for (let line = lines.at(-1); line !== undefined; line = lines.at(-1)) {
    const { straight } = line
    const branch = line.next[line.at]
    line.at += 1
    if (branch !== undefined && branch !== straight) {
      yield { type: 'branch', depth: line.depth }
      lines.push(lineOf(line.depth + 1, [branch]))
    } else if (branch === undefined) {
      if (straight === undefined) {
        lines.pop()
        continue
      }
      yield { type: 'step', depth: line.depth, step: straight }
      for (const { note, text } of notesAt(straight)) yield { type: 'note', depth: line.depth, note, text }
      Object.assign(line, lineOf(line.depth, children.get(straight.id) ?? []))
    }
  }
  for (const { agentId } of model.agents) yield { type: 'note', depth: 0, note: 'agent', text: agentId }
}

/** Makes a line. The trunk continues straight, and so does the last attempt of an abandoned line. All steps after the head are abandoned. */
const lineOf = (depth: number, next: readonly GraphStep[]): Line => ({
  depth,
  next,
  straight: depth === 0 ? next.find(({ isOnTrunk }) => isOnTrunk) : next.at(-1),
  at: 0,
})

/** Returns a function that lists the notes of a step, in drawing order. */
export function notesOf(model: ConversationModel): (step: GraphStep) => { note: RowNote; text: string }[] {
  const memos = new Map(
    model.prunes.map(({ steps, memo, tokens, policy }) => {
      const what = `hides ${steps.length === 1 ? 'this step' : `${steps.length} steps`} (${Math.round(tokens)} tokens)${byPolicy(policy)}`
      return [steps[0], memo === undefined || memo === '' ? what : `${what}: ${memo}`]
    }),
  )
  const summaries = new Map<string, string[]>()
  for (const { id, from, to, summary, isInForce, isPinned } of model.compactions) {
    const text = `${id} stands for ${from}–${to}${isInForce ? '' : ', no more'}${isPinned === true ? ', pinned' : ''}: ${summary}`
    summaries.set(from, [...(summaries.get(from) ?? []), text])
  }
  return (step) => {
    const memo = memos.get(step.id)
    return [
      ...(summaries.get(step.id) ?? []).map((text) => ({ note: 'compaction' as const, text })),
      ...(memo === undefined ? [] : [{ note: 'prune' as const, text: memo }]),
      ...step.tags.map((tag) => ({ note: 'tag' as const, text: tagText(tag) })),
      ...step.agents.map(({ agentId }) => ({ note: 'agent' as const, text: agentId })),
    ]
  }
}

/** Returns the text of a tag that a revert left: `lesson: do not`. */
export const tagText = ({ kind, text, policy }: GraphTag): string =>
  `${kind}${byPolicy(policy)}${text.trim() === '' ? '' : `: ${text}`}`

/** Returns the ids of a step's first and last node: `n3–n5`. */
export const stepIds = ({ nodes }: Pick<GraphStep, 'nodes'>): string =>
  [...new Set([nodes[0], nodes.at(-1)])].map((id) => `n${id}`).join('–')

/** Returns the remarks that follow the label of a step, such as ` (hidden)`. */
export const stepRemarks = ({ rebasedFrom, copiedFrom, hiddenBy, isMasked, maskedBy, isPinned }: GraphStep): string =>
  [
    rebasedFrom === undefined ? '' : ` (n${rebasedFrom} again)`,
    copiedFrom === undefined ? '' : ` (copy of ${copiedFrom})`,
    hiddenBy === undefined ? '' : ' (hidden)',
    isMasked === true ? ` (masked${byPolicy(maskedBy)})` : '',
    isPinned === true ? ' (pinned)' : '',
  ].join('')
