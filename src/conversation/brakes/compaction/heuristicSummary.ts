import { textOf, toolCallsOf, type ToolResultMessage } from '../../../protocol/messages.ts'
import type { ConversationNode } from '../../tree/node.ts'
import { cutMiddle, oneLine } from '../../../protocol/text/cutMiddle.ts'
import type { TokenCounter } from '../../limits/tokenCounter.ts'

/**
 * Summarises a span without a model: one line per reply or call, only the newest if `maxTokens` is too small for all.
 * `previous` is the summary the span starts with. User messages are omitted, since they are shown in full. Pure.
 */
export function heuristicSummary(
  span: readonly ConversationNode[],
  options: { maxTokens: number; counter: TokenCounter; previous?: string },
): string {
  const results = new Map<string, ToolResultMessage>()
  for (const { message } of span) if (message.role === 'toolResult') results.set(message.callId, message)
  // A model's earlier summary may be one long line: limit it to half of the budget.
  const previous =
    options.previous === undefined ? [] : cutMiddle(options.previous, Math.max(100, options.maxTokens)).split('\n')
  const lines = [...previous, ...span.flatMap((node) => linesOf(node, results))]
  const kept: string[] = []
  let left = options.maxTokens - options.counter.text('(1000000 earlier lines left out)\n')
  for (let i = lines.length - 1; i >= 0; i--) {
    left -= options.counter.text(`${lines[i]!}\n`)
    if (left < 0) return [`(${i + 1} earlier lines left out)`, ...kept].join('\n')
    kept.unshift(lines[i]!)
  }
  return kept.join('\n')
}

function linesOf(node: ConversationNode, results: ReadonlyMap<string, ToolResultMessage>): string[] {
  if (node.message.role !== 'assistant') return []
  const said = lineOf(textOf(node.message.content), 240)
  const calls = toolCallsOf(node.message.content).map((call) => {
    const result = results.get(call.callId)
    const outcome =
      result === undefined ? '' : ` → ${result.isError ? 'error: ' : ''}${lineOf(textOf(result.content), 160)}`
    return `- ${oneLine(call.name, 64)} ${lineOf(JSON.stringify(call.input) ?? '', 160)}${outcome}`
  })
  return said === '' ? calls : [`- said: ${said}`, ...calls]
}

/** Returns a text on one line. Looks only at the beginning of a long text. */
const lineOf = (text: string, max: number): string => oneLine(text.slice(0, 20_000), max)
