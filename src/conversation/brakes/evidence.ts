import type { Evidence, Tag } from '../../protocol/braking.ts'
import { saidByTool, textOf } from '../../protocol/text/messageText.ts'
import { cutEnd } from '../../protocol/text/cutMiddle.ts'
import type { ConversationNode } from '../tree/node.ts'

/** Returns the files that the branch of a tag left changed, without those that were undone. */
export const stillChanged = ({ evidence, undo }: Tag): readonly string[] =>
  undo === undefined ? evidence.changed : evidence.changed.filter((file) => !undo.undone.includes(file))

/** Returns the evidence of a span: the tools called, with their last error, and the files that remain changed. Pure. */
export function evidenceOf(span: readonly ConversationNode[], ignored: ReadonlySet<string> = new Set()): Evidence {
  const calls = new Map<string, { name: string; attempts: number; lastError?: string }>()
  const changed = new Set<string>()
  for (const { message, tags, copiedFrom } of span) {
    // Branches abandoned earlier within the span changed files too.
    for (const tag of tags) for (const file of stillChanged(tag)) changed.add(file)
    // A copy is no second call: the branch that it comes from left its own evidence.
    if (message.role !== 'toolResult' || copiedFrom !== undefined || ignored.has(message.toolName)) continue
    for (const file of message.changed ?? []) changed.add(file)
    const { toolName: name, isError } = message
    const call = calls.get(name) ?? { name, attempts: 0 }
    call.attempts += 1
    const error = isError ? lastLine(textOf(saidByTool(message))) : ''
    if (error !== '') call.lastError = error
    calls.set(name, call)
  }
  return { calls: [...calls.values()], changed: [...changed] }
}

/** Returns the last line of a text, at most 200 characters of it. */
export const lastLine = (text: string): string => cutEnd(text.trimEnd().split('\n').at(-1)?.trim() ?? '', 200)
