import type { ModelPolicy } from 'escapement'

const textOf = (content: readonly { readonly type: string }[]): string =>
  content.map((block) => ('text' in block ? String(block.text) : '')).join('')

/** Stands in for the models of all three, which it tells apart by their tools. */
export const reply: ModelPolicy = ({ messages, tools }) => {
  const has = (name: string): boolean => tools.some((tool) => tool.name === name)
  const results = messages.flatMap((message) => (message.role === 'toolResult' ? [textOf(message.content)] : []))
  const task = textOf(messages[0]!.content)
  const call = (name: string, input: object) => ({ toolCalls: [{ name, input }] })
  if (has('search')) return results[0] ?? call('search', { word: 'escapement' })
  if (has('publish')) {
    const facts = task.split('\n').slice(1).join('\n')
    return results[0] ?? call('publish', { title: 'Three escapements', text: facts || task })
  }
  if (results.length === 0) return call('researcher', { task: 'What is known about escapements?' })
  if (results.length === 1) return call('writer', { task: `Publish an article of these facts:\n${results[0]}` })
  return `The writer says: ${results[1]}`
}
