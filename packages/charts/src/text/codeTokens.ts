import { grammarOf } from './grammars.ts'

/** Kind of a piece of code, which decides its colour. */
export type CodeKind = 'plain' | 'keyword' | 'string' | 'comment' | 'number' | 'name' | 'added' | 'removed'

export interface CodeToken {
  readonly kind: CodeKind
  readonly text: string
}

/** Length up to which code is coloured, in UTF-16 units; longer code has one colour. */
const mostColoured = 50_000

/**
 * Splits code into pieces of one colour each, which together are the text. `language` is the word after a fence, or the extension of a
 * file; for an unknown language, or a very long text, all is plain. Linear. Pure.
 */
export function codeTokens(language: string, text: string): readonly CodeToken[] {
  const grammar = text.length > mostColoured ? undefined : grammarOf(language)
  if (text === '') return []
  if (grammar === undefined) return [{ kind: 'plain', text }]
  const tokens: CodeToken[] = []
  let plain = 0
  const flush = (end: number): void => {
    if (end > plain) tokens.push({ kind: 'plain', text: text.slice(plain, end) })
  }
  for (const match of text.matchAll(grammar.pattern)) {
    const kind = kindOf(match.groups ?? {}, grammar.keywords)
    if (kind === undefined) continue
    flush(match.index)
    tokens.push({ kind, text: match[0] })
    plain = match.index + match[0].length
  }
  flush(text.length)
  return tokens
}

function kindOf(
  groups: Readonly<Record<string, string | undefined>>,
  keywords: ReadonlySet<string>,
): CodeKind | undefined {
  const word = groups['word']
  if (word !== undefined) return keywords.has(word) ? 'keyword' : undefined
  return kinds.find((kind) => groups[kind] !== undefined)
}

const kinds = ['comment', 'string', 'number', 'keyword', 'name', 'added', 'removed'] as const
