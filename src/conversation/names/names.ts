import { hasKeptName } from '../../protocol/callEffects.ts'
import { textOf, toolCallsOf } from '../../protocol/messages.ts'
import type { ConversationNode } from '../tree/node.ts'
import { recallName } from '../tree/stepText.ts'

const candidate = /[A-Za-z_][A-Za-z0-9_./-]{7,}/g
const odd = /[a-z0-9][A-Z]|_|[./]|[A-Za-z]\d|\d[A-Za-z]/
const declaration = /\b(?:class|interface|type|enum|function|def|const|struct|trait|fn|func)\s+([A-Za-z_]\w{7,})/g
export const shortestName = 8
/** Maximum length of a name in UTF-16 units. Agents do not write longer ones again. */
const longest = 200

/**
 * Returns the parts of a text that look like a name and not like a word: a path, a dotted, snake-case or camel-case name, or one with digits, of
 * eight characters or more.
 */
export function namesIn(text: string): Set<string> {
  const names = new Set<string>()
  for (const [found] of text.matchAll(candidate)) {
    if (found.length > longest) continue
    const name = withoutTail(found)
    if (name.length >= shortestName && odd.test(name)) names.add(name)
  }
  return names
}

/** Returns a name without dots, slashes and dashes at the end. */
export function withoutTail(name: string): string {
  let end = name.length
  while (end > 0 && './-'.includes(name[end - 1]!)) end -= 1
  return name.slice(0, end)
}

/** Maximum nesting that is searched for names. */
const deepest = 50

/** Returns the strings of a call's arguments, one on each line. In JSON, escapes would stick to names. */
function stringsOf(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value
  if (value === null || typeof value !== 'object' || depth === deepest) return ''
  return Object.values(value)
    .map((part) => stringsOf(part, depth + 1))
    .join('\n')
}

/** Returns the text of a node; for a reply, including its calls. */
export function wordsOf({ message }: Pick<ConversationNode, 'message'>): string {
  const text = textOf(message.content)
  if (message.role !== 'assistant') return text
  return [text, ...toolCallsOf(message.content).flatMap(({ name, input }) => [name, stringsOf(input)])].join('\n')
}

/**
 * Returns the names of a node with their own worth. The agent's own text, declarations, paths and names of artifacts
 * count more; hashes and overlong names count less.
 */
export function namesOf(node: ConversationNode): ReadonlyMap<string, number> {
  const { message } = node
  const worth = new Map<string, number>()
  // Recalled names have their home elsewhere.
  if (message.role === 'toolResult' && message.toolName === recallName) return worth
  const words = wordsOf(node)
  const declared = new Set(Array.from(words.matchAll(declaration), ([, name]) => name!))
  for (const name of namesIn(words)) {
    const isPath = /\/[^/]*\.[a-z]{1,5}$/.test(name)
    const isHash = /^[0-9a-f-]+$/.test(name)
    worth.set(
      name,
      (message.role === 'assistant' ? 1 : 0) +
        (declared.has(name) ? 2 : 0) +
        (isPath ? 2 : 0) +
        (hasKeptName(name) ? 4 : 0) -
        (isHash ? 3 : 0) -
        (name.length > 60 ? 3 : 0),
    )
  }
  return worth
}
