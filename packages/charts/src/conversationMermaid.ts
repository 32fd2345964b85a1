import { cutEnd } from '../../../src/protocol/text/cutMiddle.ts'
import type { ConversationModel, GraphStep } from './conversationModel.ts'
import { stepIds, stepRemarks, tagText } from './conversationRows.ts'
import { escapeMermaid } from './escapeText.ts'

/** Mermaid draws no more than 500 lines, and people read fewer. */
const mostSteps = 120
const mostNotes = 120
const maxNote = 90

const classes = {
  trunk: 'fill:#eef4ff,stroke:#4769b8,color:#14213d,stroke-width:2px',
  head: 'fill:#fde68a,stroke:#b45309,color:#451a03,stroke-width:3px',
  abandoned: 'fill:#f3f4f6,stroke:#9ca3af,color:#6b7280,stroke-dasharray:4 4',
  hidden: 'fill:#f3f4f6,stroke:#4769b8,color:#6b7280,stroke-dasharray:1 3',
  note: 'fill:#fff8e1,stroke:#d4a72c,color:#5b4300',
}

/** A conversation as a Mermaid flowchart: trunk solid, abandoned branches dotted; a long one folded in its middle. Pure. */
export function conversationMermaid(model: ConversationModel): string {
  const steps = foldConversation(model, mostSteps)
  const names = new Map(steps.map(({ id }, index) => [id, `s${index}`]))
  const lines = ['flowchart TD']
  const members: { [C in keyof typeof classes]: string[] } = {
    trunk: [],
    head: [],
    abandoned: [],
    hidden: [],
    note: [],
  }
  let notes = 0
  const note = (shape: readonly [string, string], text: string, links: readonly (string | undefined)[]): void => {
    if (notes >= mostNotes) return
    const name = `x${notes++}`
    lines.push(`  ${name}${shape[0]}"${escapeMermaid(cutEnd(text, maxNote))}"${shape[1]}`)
    members.note.push(name)
    for (const link of links) if (link !== undefined) lines.push(`  ${link} -.- ${name}`)
  }
  for (const step of steps) {
    const name = names.get(step.id)!
    lines.push(`  ${name}["${escapeMermaid(`${stepIds(step)} ${step.label}${stepRemarks(step)}`)}"]`)
    const parent = step.parent === undefined ? undefined : names.get(step.parent)
    if (parent !== undefined) lines.push(`  ${parent} ${step.isOnTrunk ? '-->' : '-.->'} ${name}`)
    const copied = step.copiedFrom === undefined ? undefined : names.get(step.copiedFrom)
    if (copied !== undefined) lines.push(`  ${copied} -. copied .-> ${name}`)
    members[classOf(step, model)].push(name)
    for (const tag of step.tags) note(['>', ']'], tagText(tag), [name])
    for (const { agentId } of step.agents) note(['[[', ']]'], agentId, [name])
  }
  for (const { id, from, to, summary, isPinned } of model.compactions)
    note(['([', '])'], `${id} stands for ${from}–${to}${isPinned === true ? ', pinned' : ''}: ${summary}`, [
      names.get(from),
      names.get(to),
    ])
  for (const { id, steps: hidden, memo, policy } of model.prunes)
    note(['([', '])'], pruneText(memo ?? `prune ${id}`, policy), [names.get(hidden[0]!)])
  for (const { agentId } of model.agents) note(['[[', ']]'], agentId, [])
  for (const [name, list] of Object.entries(members)) {
    if (list.length === 0) continue
    lines.push(
      `  classDef ${name}Step ${classes[name as keyof typeof classes]}`,
      `  class ${list.join(',')} ${name}Step`,
    )
  }
  return `${lines.join('\n')}\n`
}

const pruneText = (text: string, policy: string | undefined): string =>
  policy === undefined ? text : `policy ${policy}: ${text}`

function classOf(step: GraphStep, { head }: ConversationModel): keyof typeof classes {
  if (!step.isOnTrunk) return 'abandoned'
  if (step.hiddenBy !== undefined) return 'hidden'
  return head !== null && step.nodes.at(-1) === head ? 'head' : 'trunk'
}

/** Trunk steps that are always shown at the beginning. */
const firstKept = 10

/**
 * Reduces a long conversation to about `most` steps: the abandoned branches of each trunk step become one, then the middle of the trunk
 * becomes one. A folded step says how much it stands for. A short conversation is returned unchanged. Pure and linear.
 */
function foldConversation({ steps }: ConversationModel, most: number): readonly GraphStep[] {
  if (steps.length <= most) return steps
  const trunk = steps.filter(({ isOnTrunk }) => isOnTrunk)
  const anchors = new Map<string, string | undefined>()
  const branches = new Map<string | undefined, GraphStep[]>()
  for (const step of steps) {
    if (step.isOnTrunk) continue
    const { parent } = step
    const anchor = parent !== undefined && anchors.has(parent) ? anchors.get(parent) : parent
    anchors.set(step.id, anchor)
    const beside = branches.get(anchor)
    if (beside === undefined) branches.set(anchor, [step])
    else beside.push(step)
  }
  const branchOf = (anchor: string | undefined): GraphStep[] => {
    const beside = branches.get(anchor)
    if (beside === undefined) return []
    return [folded(beside, `fold ${beside[0]!.id}`, anchor, `${counted(beside.length)} abandoned`)]
  }
  const half = Math.floor(most / 2)
  const lastKept = trunk.length <= half ? trunk.length - firstKept : half - firstKept - 1
  const middle = trunk.slice(firstKept, Math.max(firstKept, trunk.length - lastKept))
  if (middle.length < 2) return [...branchOf(undefined), ...trunk.flatMap((step) => [step, ...branchOf(step.id)])]
  const lost = middle.reduce((sum, { id }) => sum + (branches.get(id)?.length ?? 0), 0)
  const what = `${counted(middle.length)}${lost === 0 ? '' : `, and ${lost} abandoned`}`
  const fold = folded(middle, `fold ${middle[0]!.id}`, middle[0]!.parent, what)
  const [next, ...rest] = trunk.slice(firstKept + middle.length)
  const kept = [
    ...trunk.slice(0, firstKept),
    fold,
    ...(next === undefined ? [] : [{ ...next, parent: fold.id }]),
    ...rest,
  ]
  return [...branchOf(undefined), ...kept.flatMap((step) => [step, ...branchOf(step.id)])]
}

const counted = (count: number): string => (count === 1 ? '1 step' : `${count} steps`)

function folded(steps: readonly GraphStep[], id: string, parent: string | undefined, label: string): GraphStep {
  const {
    parent: _,
    hiddenBy: __,
    rebasedFrom: ___,
    copiedFrom: ______,
    isPinned: ____,
    isMasked: _____,
    maskedBy: _______,
    ...first
  } = steps[0]!
  return {
    ...first,
    id,
    ...(parent === undefined ? {} : { parent }),
    label,
    nodes: [first.nodes[0]!, steps.at(-1)!.nodes.at(-1)!],
    tokens: steps.reduce((sum, { tokens }) => sum + tokens, 0),
    tags: [],
    agents: [],
  }
}
