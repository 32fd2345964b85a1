import type { ModelPolicy } from 'escapement'

/** Without the id of its step, such as [n12], which a result ends with once the agent has brakes. */
const textOf = (content: readonly { readonly type: string }[]): string =>
  content
    .map((block) => ('text' in block ? String(block.text) : ''))
    .join('')
    .trimEnd()
    .replace(/\[n\d+\]$/, '')
    .trimEnd()

/** Stands in for a model: it writes down what follows "remember", and lists the notes when it is asked. */
export const reply: ModelPolicy = ({ messages }) => {
  const last = messages.at(-1)!
  const text = textOf(last.content)
  if (last.role === 'toolResult') return last.toolName === 'list_notes' ? `Your notes:\n${text}` : text
  const [, note] = /^\s*remember (?:to |that )?(.+)/is.exec(text) ?? []
  if (note !== undefined) return { toolCalls: [{ name: 'add_note', input: { text: note.trim() } }] }
  if (/notes?|remember|what/i.test(text)) return { toolCalls: [{ name: 'list_notes', input: {} }] }
  return 'I only know "remember …" and "what do I have to remember?": set ANTHROPIC_API_KEY to talk to Claude.'
}
