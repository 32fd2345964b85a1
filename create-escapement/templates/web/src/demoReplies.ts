import type { ModelPolicy } from 'escapement'

const textOf = (content: readonly { readonly type: string }[]): string =>
  content.map((block) => ('text' in block ? String(block.text) : '')).join('')

/** Stands in for a model: it knows about orders and refunds alone. */
export const reply: ModelPolicy = ({ messages }) => {
  const last = messages.at(-1)!
  const text = textOf(last.content)
  if (last.role === 'toolResult') return last.isError ? 'Then I will not.' : `${text} Is there anything else?`
  const order = /\b[A-Z]\d+\b/.exec(text)?.[0]
  if (/back|refund/i.test(text))
    return order === undefined
      ? 'Which order is it about? It has a number such as A17.'
      : { text: 'I have to ask for that.', toolCalls: [{ name: 'refund', input: { order } }] }
  return 'Your clock leaves the workshop tomorrow. (I only know this and refunds: set ANTHROPIC_API_KEY to talk to Claude.)'
}
