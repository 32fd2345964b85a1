import { cutEnd } from '../conversation/cutMiddle.ts'
import { foldConversation } from './conversationFold.ts'
import type { ConversationModel, GraphStep } from './conversationModel.ts'
import { stepIds, stepRemarks } from './conversationRows.ts'
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
    members[classOf(step, model)].push(name)
    for (const { kind, text } of step.tags) note(['>', ']'], `${kind}: ${text}`, [name])
    for (const { agentId } of step.agents) note(['[[', ']]'], agentId, [name])
  }
  for (const { id, from, to, summary } of model.compactions)
    note(['([', '])'], `${id} stands for ${from}–${to}: ${summary}`, [names.get(from), names.get(to)])
  for (const { id, steps: hidden, memo } of model.prunes)
    note(['([', '])'], memo === undefined ? `prune ${id}` : memo, [names.get(hidden[0]!)])
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

function classOf(step: GraphStep, { head }: ConversationModel): keyof typeof classes {
  if (!step.isOnTrunk) return 'abandoned'
  if (step.hiddenBy !== undefined) return 'hidden'
  return head !== null && step.nodes.at(-1) === head ? 'head' : 'trunk'
}
