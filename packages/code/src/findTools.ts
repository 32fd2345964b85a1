import { indexOf, searchTools } from '../../tools/src/finding/searchTools.ts'
import { declared } from '../../tools/src/finding/findTools.ts'
import { nearWords } from '../../../src/protocol/checks/nearestWord.ts'
import { cutEnd } from '../../../src/protocol/text/cutMiddle.ts'
import type { Callable } from './callables.ts'

const mostNames = 40
const mostNearest = 3

/** Returns the declarations of the tools that match a query, as `tools.$find` gives them. Pure. */
export function findTools(tools: readonly Callable[], input: unknown): string {
  const { query } = (typeof input === 'object' && input !== null ? input : {}) as { readonly query?: unknown }
  if (typeof query !== 'string' || query.trim() === '') throw new Error('Say in a few words what the tool does.')
  const { close, others } = searchTools(indexOf(tools), query.slice(0, 500))
  const shown = declared(close)
  if (shown.length === 0) return `No tool has to do with ${JSON.stringify(cutEnd(query, 80))}. Try other words.`
  const more = [...close.slice(shown.length), ...others].slice(0, mostNames).map(({ name }) => name)
  return [...shown, ...(more.length === 0 ? [] : [`Also: ${more.join(', ')}.`])].join('\n\n')
}

/** Returns why there is no tool of a name, with the nearest names. Pure. */
export function whyUnknown(tools: readonly Callable[], name: string): string {
  const near = nearWords(
    name,
    tools.map((tool) => tool.name),
  )
  const { close, others } = near.length > 0 ? { close: [], others: [] } : searchTools(indexOf(tools), name)
  const alike = [...near, ...[...close, ...others].map((tool) => tool.name)].slice(0, mostNearest)
  const hint = alike.length === 0 ? '' : ` The nearest: ${alike.join(', ')}.`
  return `There is no tool ${JSON.stringify(cutEnd(name, 80))}.${hint}`
}
