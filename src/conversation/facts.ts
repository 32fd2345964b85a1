import type { NodeId } from '../protocol/ids.ts'
import { textOf, type Block, type ToolCallBlock } from '../protocol/messages.ts'
import { cutEnd } from './cutMiddle.ts'
import { brakeMarkers, type Markers } from './markers.ts'
import { neutralise } from './neutralise.ts'
import type { ConversationNode } from './node.ts'
import { spanOf } from './spanOf.ts'

/** What must stay visible of a call even when its step is hidden: that a person denied it, or that it cannot be undone. */
export interface Fact {
  readonly kind: 'denied' | 'irreversible'
  readonly tool: string
  readonly input: string
  /** The reason for the denial, or the call's outcome. */
  readonly outcome: string
}

const longest = { input: 100, irreversible: 160, denied: 500 } as const
/** Most lines per tool in one place; older calls are only counted. Denials are not limited: people make them one by one. */
const mostLines = 20

const oneLine = (text: string, max: number): string => cutEnd(text.replace(/[\s\p{Cc}]+/gu, ' ').trim(), max)

/** How the runtime words a denial; the reason follows. */
const denial = /^Denied by the user: it was not run\.(?: Reason: )?/

/** The facts of these nodes, oldest first; the results of a reply's calls come after it and before the next. Pure. */
export function factsOf(nodes: Iterable<ConversationNode>): Fact[] {
  let reply: readonly Block[] = []
  const facts: Fact[] = []
  for (const { message, isIrreversible } of nodes) {
    if (message.role === 'assistant') reply = message.content
    if (message.role !== 'toolResult') continue
    const kind = message.synthetic === 'denied' ? 'denied' : isIrreversible === true ? 'irreversible' : undefined
    if (kind === undefined) continue
    const said = textOf(message.content)
    const outcome = kind === 'denied' ? said.replace(denial, '') : `${message.isError ? 'error: ' : ''}${said}`
    facts.push({
      kind,
      tool: message.toolName,
      input: oneLine(JSON.stringify(callIn(reply, message.callId)?.input) ?? '', longest.input),
      outcome: oneLine(outcome, longest[kind]),
    })
  }
  return facts
}

const callIn = (reply: readonly Block[], callId: string): ToolCallBlock | undefined =>
  reply.find((block): block is ToolCallBlock => block.type === 'toolCall' && block.callId === callId)

/** The facts of abandoned nodes, and those already noted on them for earlier abandoned ones. Pure. */
export function factsBehind(
  abandoned: readonly NodeId[],
  find: (id: NodeId) => ConversationNode | undefined,
): readonly Fact[] {
  const nodes: ConversationNode[] = []
  const waiting = [...abandoned]
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const node = find(id)
    if (node === undefined) continue
    nodes.push(node)
    for (const tag of node.tags) waiting.push(...tag.abandoned)
  }
  return factsOf(nodes.toSorted((a, b) => a.id - b.id))
}

const lineOf = ({ kind, tool, input, outcome }: Fact): string => {
  const end = outcome === '' ? '' : ` → ${outcome}`
  return `${kind === 'denied' ? 'denied by a person' : 'cannot be undone'}: ${oneLine(tool, 64)} ${input}${end}`
}

/** Facts as the model sees them, one per line between the runtime's markers; `''` if there are none. */
export function renderFacts(facts: readonly Fact[], steps: readonly NodeId[], markers: Markers = brakeMarkers): string {
  if (facts.length === 0) return ''
  const lines = new Map<string, { tool: string; isDenied: boolean; count: number }>()
  for (const fact of facts) {
    const line = lineOf(fact)
    const before = lines.get(line)
    // A repeated fact moves to its latest position.
    lines.delete(line)
    lines.set(line, { tool: fact.tool, isDenied: fact.kind === 'denied', count: (before?.count ?? 0) + 1 })
  }
  const left = new Map<string, number>()
  const older = new Map<string, number>()
  const shown: string[] = []
  for (const [line, { tool, isDenied, count }] of [...lines].toReversed()) {
    const room = isDenied ? Infinity : (left.get(tool) ?? mostLines)
    if (!isDenied) left.set(tool, room - 1)
    if (room > 0) shown.push(count === 1 ? line : `${line} (${count} times)`)
    else older.set(tool, (older.get(tool) ?? 0) + count)
  }
  const rest = [...older].map(
    ([tool, count]) => `cannot be undone: ${oneLine(tool, 64)}, ${count} earlier call${count === 1 ? '' : 's'}`,
  )
  const text = [...rest, ...shown.toReversed()].join('\n')
  return `<conversation-facts${spanOf(steps)}>\n${neutralise(text, markers)}\n</conversation-facts>`
}
