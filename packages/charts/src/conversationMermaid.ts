import { cutEnd } from '../../../src/protocol/text/cutMiddle.ts'
import type { ConversationModel, GraphStep } from './conversationModel.ts'
import { noteMarks, notesOf, stepIds, stepRemarks, tagText } from './conversationRows.ts'
import { escapeMermaid } from './escapeText.ts'

/** Limits of the steps and notes drawn. Mermaid draws no more than 500 lines, and people read fewer. */
const mostSteps = 120
const mostNotes = 120
/** Maximum number of lines of a box, and of characters of a line and of a note. */
const mostLines = 6
const maxLine = 64
const maxNote = 90
/** Width of a box in pixels. */
const boxWidth = 360

const left = 'text-align:left'
const classes = {
  trunk: `fill:#eef4ff,stroke:#4769b8,color:#14213d,stroke-width:2px,${left}`,
  head: `fill:#fde68a,stroke:#b45309,color:#451a03,stroke-width:3px,${left}`,
  abandoned: `fill:#f3f4f6,stroke:#9ca3af,color:#6b7280,stroke-dasharray:4 4,${left}`,
  hidden: `fill:#f3f4f6,stroke:#4769b8,color:#6b7280,stroke-dasharray:1 3,${left}`,
  note: `fill:#fff8e1,stroke:#d4a72c,color:#5b4300,${left}`,
}

/** A box of consecutive steps that look alike, with a line for each. */
interface Box {
  readonly name: string
  readonly look: keyof typeof classes
  readonly steps: GraphStep[]
}

/**
 * Draws a conversation as a Mermaid flowchart: trunk solid, abandoned branches dotted, each with what was learned at
 * its end. Consecutive steps share a box. A long conversation is folded in its middle. Pure.
 */
export function conversationMermaid(model: ConversationModel): string {
  const steps = foldConversation(model, mostSteps)
  const boxOf = boxesOf(steps, model)
  const stepAt = new Map(steps.flatMap((step) => step.nodes.map((node) => [node, step.id] as const)))
  const notesAt = notesOf(model)
  let notes = 0
  const members: Record<keyof typeof classes, string[]> = { trunk: [], head: [], abandoned: [], hidden: [], note: [] }
  // Mermaid breaks lines after 200 pixels.
  const lines = ['---', 'config:', '  flowchart:', `    wrappingWidth: ${boxWidth}`, '---', 'flowchart TD']
  for (const { name, look, steps: inside } of new Set(boxOf.values())) {
    const said = inside.flatMap((step) => [
      cutEnd(`${stepIds(step)} ${step.label}`, maxLine) + stepRemarks(step),
      ...notesAt(step)
        .filter(({ note }) => note !== 'tag' && notes++ < mostNotes)
        .map(({ note, text }) => `${noteMarks[note][0]} ${cutEnd(text, maxNote)}`),
    ])
    lines.push(`  ${name}["${said.map(escapeMermaid).join('<br/>')}"]`)
    members[look].push(name)
  }
  for (const step of steps) {
    const [name, parent] = [boxOf.get(step.id)!.name, boxOf.get(step.parent ?? '')?.name]
    if (parent !== undefined && parent !== name) lines.push(`  ${parent} ${step.isOnTrunk ? '-->' : '-.->'} ${name}`)
    const copied = boxOf.get(step.copiedFrom ?? '')?.name
    if (copied !== undefined && copied !== name) lines.push(`  ${copied} -. copied .-> ${name}`)
    for (const tag of step.tags.slice(0, mostNotes - members.note.length)) {
      const note = `x${members.note.length}`
      // At the end of what was given up, or where that is not drawn at the step that it is a note of.
      const end = boxOf.get(stepAt.get(tag.abandoned.at(-1)!) ?? step.id)!.name
      lines.push(
        `  ${note}>"${noteMarks.tag[0]} ${escapeMermaid(cutEnd(tagText(tag), maxNote))}"]`,
        `  ${end} -.- ${note}`,
      )
      members.note.push(note)
    }
  }
  for (const [index, { agentId }] of model.agents.slice(0, mostNotes).entries()) {
    lines.push(`  a${index}["${noteMarks.agent[0]} ${escapeMermaid(agentId)}"]`)
    members.note.push(`a${index}`)
  }
  for (const [name, list] of Object.entries(members)) {
    if (list.length === 0) continue
    lines.push(
      `  classDef ${name}Step ${classes[name as keyof typeof classes]}`,
      `  class ${list.join(',')} ${name}Step`,
    )
  }
  return `${lines.join('\n')}\n`
}

/** Returns the box of each step, by the step's id. */
function boxesOf(steps: readonly GraphStep[], model: ConversationModel): Map<string, Box> {
  const followed = new Map<string, number>()
  for (const { parent = '' } of steps) followed.set(parent, (followed.get(parent) ?? 0) + 1)
  const boxes = new Map<string, Box>()
  let count = 0
  for (const step of steps) {
    const { parent = '' } = step
    const before = boxes.get(parent)
    const look = classOf(step, model)
    const joins =
      before?.look === look &&
      before.steps.length < mostLines &&
      followed.get(parent) === 1 &&
      before.steps.at(-1)!.tags.length === 0 &&
      (step.role !== 'user' || !step.isOnTrunk)
    const box = joins ? before : { name: `s${count++}`, look, steps: [] }
    box.steps.push(step)
    boxes.set(step.id, box)
  }
  return boxes
}

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
