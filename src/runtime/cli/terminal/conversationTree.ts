import type { ConversationView } from '../../../conversation/conversation.ts'
import type { ConversationNode } from '../../../conversation/node.ts'
import { formatNodeId, type NodeId } from '../../../protocol/ids.ts'
import { textOf, toolCallsOf } from '../../../protocol/messages.ts'
import type { Colours } from './colours.ts'
import { oneLine } from './textLines.ts'
import { fitted } from './textWidth.ts'
import { callLine, outcomeLine } from './toolLine.ts'

type View = Pick<ConversationView, 'trunk' | 'abandoned'>

interface TreeStep {
  readonly nodes: ConversationNode[]
  readonly children: TreeStep[]
  readonly isOnTrunk: boolean
}

const maxTextChars = 70

/**
 * A conversation as a tree, oldest step first, like `git log --graph`: the trunk at the left, abandoned branches dimmed and
 * beside the step they left from, tags below their step. No line takes more than `columns`.
 */
export function conversationTree(conversation: View, colours: Colours, columns = Infinity): string[] {
  return drawLine(rootsOf(conversation), '', { colours, columns, width: labelWidth(conversation) })
}

/** Steps by parent; a step follows a step, whichever of its nodes the parent is. */
function rootsOf(conversation: View): TreeStep[] {
  const trunk = conversation.trunk()
  const onTrunk = new Set(trunk.map(({ id }) => id))
  const nodes = [...trunk, ...conversation.abandoned()].toSorted((a, b) => a.id - b.id)
  const stepIds = new Map<NodeId, NodeId>()
  const steps = new Map<NodeId, TreeStep>()
  const roots: TreeStep[] = []
  for (const node of nodes) {
    stepIds.set(node.id, node.stepId)
    const known = steps.get(node.stepId)
    if (known !== undefined) {
      known.nodes.push(node)
      continue
    }
    const step = { nodes: [node], children: [], isOnTrunk: onTrunk.has(node.id) }
    steps.set(node.stepId, step)
    const parent = node.parentId === null ? undefined : steps.get(stepIds.get(node.parentId)!)
    ;(parent?.children ?? roots).push(step)
  }
  return roots
}

interface Drawing {
  readonly colours: Colours
  readonly columns: number
  /** Columns of the ids. */
  readonly width: number
}

/** Draws the line that goes on from these steps, with the branches that left it. */
function drawLine(starts: readonly TreeStep[], indent: string, drawing: Drawing): string[] {
  const lines: string[] = []
  let next = starts
  while (next.length > 0) {
    // The trunk goes on straight; of an abandoned line, what was tried last does. At the head, all that follows is abandoned.
    const isTrunk = indent === ''
    const straight = isTrunk ? next.find((step) => step.isOnTrunk) : next.at(-1)
    for (const branch of next) {
      if (branch === straight) continue
      lines.push(`${indent}├─╮`)
      lines.push(...drawLine([branch], `${indent}│ `, drawing))
    }
    if (straight === undefined) break
    lines.push(...drawStep(straight, indent, drawing))
    next = straight.children
  }
  return lines
}

function drawStep({ nodes, isOnTrunk }: TreeStep, indent: string, { colours, columns, width }: Drawing): string[] {
  // Cut before it is coloured: a cut colour would run on.
  const fit = (text: string): string => fitted(text, columns - indent.length)
  const step = fit(`${isOnTrunk ? '●' : '○'} ${labelOf(nodes).padEnd(width - indent.length)}  ${describe(nodes)}`)
  const tags = nodes.flatMap((node) => node.tags)
  return [
    indent + (isOnTrunk ? step : colours.dim(step)),
    ...tags.map(({ kind, text }) => indent + colours.yellow(fit(`│ ⚑ ${kind}: ${oneLine(text)}`))),
  ]
}

const labelOf = (nodes: readonly ConversationNode[]): string =>
  [...new Set([nodes[0]!.id, nodes.at(-1)!.id])].map(formatNodeId).join('–')

const labelWidth = (conversation: View): number => {
  const last = Math.max(1, ...[...conversation.trunk(), ...conversation.abandoned()].map(({ id }) => id))
  return 2 * formatNodeId(last).length + 1
}

const cut = (text: string): string => (text.length > maxTextChars ? `${text.slice(0, maxTextChars - 1)}…` : text)

/** A step in a few words: what was said, or what was called and what came of it. */
function describe(nodes: readonly ConversationNode[]): string {
  const { message } = nodes[0]!
  const calls = message.role === 'assistant' ? toolCallsOf(message.content) : []
  if (calls.length === 0) return `${message.role}: ${cut(oneLine(textOf(message.content)))}`
  return calls
    .map(({ callId, name, input }) => {
      const result = nodes.find((node) => node.message.role === 'toolResult' && node.message.callId === callId)?.message
      const outcome = result?.role === 'toolResult' ? ` · ${outcomeLine({ name, message: result })}` : ''
      return callLine(name, input) + outcome
    })
    .join('; ')
}
