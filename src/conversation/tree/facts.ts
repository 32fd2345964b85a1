import type { NodeId } from '../../protocol/ids.ts'
import type { Block, ToolCallBlock } from '../../protocol/messages.ts'
import { denialReason } from '../../protocol/text/denial.ts'
import { saidByTool, textOf } from '../../protocol/text/messageText.ts'
import { keptNames } from '../../protocol/callEffects.ts'
import { nodesBehind } from './abandonedNodes.ts'
import { oneLine } from '../../protocol/text/cutMiddle.ts'
import { brakeMarkers, type Markers } from '../request/markers.ts'
import { neutralise } from '../request/renderMessage.ts'
import { isStanding, type ConversationNode } from './node.ts'
import { spanOf } from '../brakes/spanOf.ts'

/**
 * A fact about a call that must stay visible when its step is hidden: a person denied it, it cannot be undone, or it was not undone; with the kept
 * part of its result.
 */
export interface Fact {
  readonly kind: 'denied' | 'irreversible' | 'reversible' | 'kept'
  readonly tool: string
  readonly input: string
  /** The reason for the denial, or the call's outcome. */
  readonly outcome: string
}

const longest = { input: 100, irreversible: 160, reversible: 160, denied: 500, kept: 160 } as const
/** Maximum number of lines per tool in one place; older calls are only counted. Denials are not limited, because people make them one by one. */
const mostLines = 20

/** Returns the outcome of a call that changed something, in one line. */
export const outcomeLine = (said: string): string => oneLine(said, longest.irreversible)

/** Returns the facts of these nodes, oldest first. The results of a reply's calls follow it and precede the next reply. Pure. */
export function factsOf(nodes: Iterable<ConversationNode>): Fact[] {
  let reply: readonly Block[] = []
  const facts: Fact[] = []
  for (const node of nodes) {
    const { message } = node
    if (message.role === 'assistant') reply = message.content
    // A copy adds nothing: the note on the branch that it comes from lists it.
    if (message.role !== 'toolResult' || node.copiedFrom !== undefined) continue
    const kind = factKind(node)
    if (kind === undefined) continue
    const kept = keptNames(message)
    const said = textOf(saidByTool(message))
    const outcome = kind === 'denied' ? denialReason(said) : `${message.isError ? 'error: ' : ''}${said}`
    const told = kind === 'kept' ? '' : oneLine(outcome, longest[kind])
    facts.push({
      kind,
      tool: message.toolName,
      input: oneLine(
        message.calls ?? JSON.stringify((node.ranWith ?? callIn(reply, message.callId))?.input) ?? '',
        longest.input,
      ),
      outcome: [told, kept].filter((part) => part !== '').join(', '),
    })
  }
  return facts
}

function factKind(node: ConversationNode): Fact['kind'] | undefined {
  const { message, isIrreversible } = node
  if (message.role === 'toolResult' && message.synthetic === 'denied') return 'denied'
  if (isIrreversible === true) return 'irreversible'
  if (isStanding(node)) return 'reversible'
  return message.role === 'toolResult' && keptNames(message) !== '' ? 'kept' : undefined
}

const callIn = (reply: readonly Block[], callId: string): ToolCallBlock | undefined =>
  reply.find((block): block is ToolCallBlock => block.type === 'toolCall' && block.callId === callId)

/** Returns the facts of abandoned nodes, including facts noted on them for nodes abandoned earlier. Pure. */
export function factsBehind(
  abandoned: readonly NodeId[],
  find: (id: NodeId) => ConversationNode | undefined,
): readonly Fact[] {
  return factsOf(nodesBehind(abandoned, find))
}

const factWords = {
  denied: 'denied by a person',
  irreversible: 'cannot be undone',
  reversible: 'not undone',
  kept: 'can be read on',
} as const

const lineOf = ({ kind, tool, input, outcome }: Fact): string => {
  const end = outcome === '' ? '' : ` → ${outcome}`
  return `${factWords[kind]}: ${oneLine(tool, 64)} ${input}${end}`
}

/** Renders facts as the model sees them, one per line between the runtime's markers; `''` if there are none. */
export const renderFacts = (facts: readonly Fact[], steps: readonly NodeId[], markers?: Markers): string =>
  renderFactLines(factLines(facts), steps, markers)

export const renderFactLines = (lines: string, steps: readonly NodeId[], markers: Markers = brakeMarkers): string =>
  lines === '' ? '' : `<conversation-facts${spanOf(steps)}>\n${neutralise(lines, markers)}\n</conversation-facts>`

/** Returns one line for each fact, and one for the older facts of a tool with many; `''` if there are none. */
export function factLines(facts: readonly Fact[]): string {
  if (facts.length === 0) return ''
  const lines = new Map<string, { tool: string; kind: Fact['kind']; count: number }>()
  for (const fact of facts) {
    const line = lineOf(fact)
    const before = lines.get(line)
    // A repeated fact moves to its latest position.
    lines.delete(line)
    lines.set(line, { tool: fact.tool, kind: fact.kind, count: (before?.count ?? 0) + 1 })
  }
  const left = new Map<string, number>()
  const older = new Map<string, { readonly kind: Fact['kind']; readonly count: number }>()
  const shown: string[] = []
  for (const [line, { tool, kind, count }] of [...lines].toReversed()) {
    const room = kind === 'denied' ? Infinity : (left.get(tool) ?? mostLines)
    if (kind !== 'denied') left.set(tool, room - 1)
    if (room > 0) shown.push(count === 1 ? line : `${line} (${count} times)`)
    else older.set(tool, { kind, count: (older.get(tool)?.count ?? 0) + count })
  }
  const rest = [...older].map(
    ([tool, { kind, count }]) =>
      `${factWords[kind]}: ${oneLine(tool, 64)}, ${count} earlier call${count === 1 ? '' : 's'}`,
  )
  return [...rest, ...shown.toReversed()].join('\n')
}
