/** Query of a search. */
export interface SearchQuery {
  /** Text to find, in lower case, as it was typed: no part of it is a pattern. Empty: any text. */
  readonly text: string
  /** True to find only failures. */
  readonly errors: boolean
  /** Names of the tools whose calls are searched, in lower case; empty: everything is searched. */
  readonly tools: readonly string[]
  /** Agents to search: the one that is shown, every agent of its tree, or only the listed ones of the tree. */
  readonly agents: 'own' | 'tree' | readonly string[]
}

const operator = /^(is|tool|agent):(\S+)$/i

/** Maximum length of a query that is read, in UTF-16 units. */
const mostChars = 1_000

/**
 * Reads a query: `is:error`, `tool:name` and `agent:*` or `agent:id` narrow or widen it, and all other words are one
 * text to be found literally. In quotation marks everything is text. Pure; never throws.
 */
export function readQuery(typed: string): SearchQuery {
  const whole = typed.slice(0, mostChars).trim()
  const quoted = /^"(.*)"$/.exec(whole)?.[1]
  if (quoted !== undefined) return { text: quoted.toLowerCase(), errors: false, tools: [], agents: 'own' }
  const tools: string[] = []
  const agents: string[] = []
  let errors = false
  const text = whole.split(/(\s+)/).filter((word) => {
    const [, name = '', value = ''] = operator.exec(word) ?? []
    switch (name.toLowerCase()) {
      case 'is':
        if (value.toLowerCase() !== 'error') return true
        errors = true
        return false
      case 'tool':
        tools.push(value.toLowerCase())
        return false
      case 'agent':
        agents.push(value)
        return false
      default:
        return true
    }
  })
  return {
    text: withoutGaps(text).toLowerCase(),
    errors,
    tools,
    agents: agents.length === 0 ? 'own' : agents.includes('*') ? 'tree' : agents,
  }
}

/** Joins words with the space that was between them, or one space where an operator stood between two. */
function withoutGaps(parts: readonly string[]): string {
  const kept: string[] = []
  for (const part of parts) {
    const isSpace = part.trim() === ''
    if (isSpace && (kept.length === 0 || kept.at(-1)!.trim() === '')) continue
    kept.push(part)
  }
  return kept.join('').trim()
}

/** Returns true if a query asks for anything. */
export const asksAnything = ({ text, errors, tools }: SearchQuery): boolean => text !== '' || errors || tools.length > 0
