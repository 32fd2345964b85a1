import type { ModelPolicy } from 'escapement'

/** Stands in for a model: it knows how to repair the one bug of project/. */
export const reply: ModelPolicy = ({ messages }) => {
  const done = messages.flatMap((message) => (message.role === 'toolResult' ? [message] : []))
  const last = done.at(-1)
  if (last === undefined)
    return { text: 'I look at the code first.', toolCalls: [{ name: 'read_file', input: { path: 'median.js' } }] }
  const test = { name: 'run_command', input: { command: 'node --test' } }
  if (done.length === 1)
    return {
      text: 'Numbers are sorted as words.',
      toolCalls: [
        {
          name: 'edit_file',
          input: { path: 'median.js', oldText: '.toSorted()', newText: '.toSorted((a, b) => a - b)' },
        },
      ],
    }
  if (done.length === 2) return { toolCalls: [test] }
  return last.isError
    ? 'I may not run the test, or it fails: look at median.js.'
    : 'median.js sorts numbers as numbers now, and its test passes.'
}
