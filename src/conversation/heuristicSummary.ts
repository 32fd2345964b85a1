import { textOf, toolCallsOf, type ToolResultMessage } from '../protocol/messages.ts'
import type { ConversationNode } from './conversation.ts'
import type { TokenCounter } from './tokenCounter.ts'

/**
 * Summarises a span without a model: one line for each thing the agent said or did, the newest kept when `maxTokens` does
 * not hold them all. `previous` is the summary the span starts with. User messages are left out: they are shown whole. Pure.
 */
export function heuristicSummary(
  span: readonly ConversationNode[],
  options: { maxTokens: number; counter: TokenCounter; previous?: string },
): string {
  const results = new Map<string, ToolResultMessage>()
  for (const { message } of span) if (message.role === 'toolResult') results.set(message.callId, message)
  const lines = [...(options.previous?.split('\n') ?? []), ...span.flatMap((node) => linesOf(node, results))]
  const kept: string[] = []
  let left = options.maxTokens - 20
  for (let i = lines.length - 1; i >= 0; i--) {
    left -= options.counter.text(`${lines[i]!}\n`)
    if (left < 0) return [`(${i + 1} earlier lines left out)`, ...kept].join('\n')
    kept.unshift(lines[i]!)
  }
  return kept.join('\n')
}

function linesOf(node: ConversationNode, results: ReadonlyMap<string, ToolResultMessage>): string[] {
  if (node.message.role !== 'assistant') return []
  const said = oneLine(textOf(node.message.content), 240)
  const calls = toolCallsOf(node.message.content).map((call) => {
    const result = results.get(call.callId)
    const outcome =
      result === undefined ? '' : ` → ${result.isError ? 'error: ' : ''}${oneLine(textOf(result.content), 160)}`
    return `- ${call.name} ${oneLine(JSON.stringify(call.input) ?? '', 160)}${outcome}`
  })
  return said === '' ? calls : [`- said: ${said}`, ...calls]
}

const oneLine = (text: string, max: number): string => {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > max ? `${line.slice(0, max - 1)}…` : line
}
