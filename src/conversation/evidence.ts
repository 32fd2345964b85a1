import type { Evidence } from '../protocol/braking.ts'
import { textOf } from '../protocol/messages.ts'
import { cutEnd } from './cutMiddle.ts'
import type { ConversationNode } from './node.ts'

/** What happened in a span: the tools called, with their last error, and the files that remain changed. Pure. */
export function evidenceOf(span: readonly ConversationNode[], ignored: ReadonlySet<string> = new Set()): Evidence {
  const calls = new Map<string, { name: string; attempts: number; lastError?: string }>()
  const changed = new Set<string>()
  for (const { message, tags } of span) {
    // Branches abandoned earlier within the span changed files too.
    for (const tag of tags) for (const file of tag.evidence.changed) changed.add(file)
    if (message.role !== 'toolResult' || ignored.has(message.toolName)) continue
    for (const file of message.changed ?? []) changed.add(file)
    const { toolName: name, isError } = message
    const call = calls.get(name) ?? { name, attempts: 0 }
    call.attempts += 1
    const error = isError ? lastLine(textOf(message.content)) : ''
    if (error !== '') call.lastError = error
    calls.set(name, call)
  }
  return { calls: [...calls.values()], changed: [...changed] }
}

const lastLine = (text: string): string => cutEnd(text.trimEnd().split('\n').at(-1)?.trim() ?? '', 200)
