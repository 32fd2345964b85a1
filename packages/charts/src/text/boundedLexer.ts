import { Lexer } from 'marked'

/** A token of the lexer, for a block or for a part of a line, with the fields that are read here. */
export interface LexedToken {
  readonly type: string
  readonly raw: string
  readonly text?: string
  readonly tokens?: readonly LexedToken[]
  readonly depth?: number
  readonly lang?: string
  readonly href?: string
  readonly ordered?: boolean
  readonly start?: number | ''
  readonly items?: readonly LexedToken[]
  readonly task?: boolean
  readonly checked?: boolean
  readonly align?: readonly ('left' | 'center' | 'right' | null)[]
  readonly header?: readonly LexedCell[]
  readonly rows?: readonly (readonly LexedCell[])[]
}

interface LexedCell {
  readonly tokens: readonly LexedToken[]
}

/** Targets of labels such as `[1]: https://…`. */
export type LinkTargets = Readonly<Record<string, { readonly href: string; readonly title: string }>>

/** Nesting depth of blocks and of spans above which they become text: the lexer recurses at each level. */
const deepest = 16
/** Number of marks above which a piece is text: the lexer's search for the other end of a mark is quadratic in it. */
const mostMarks = 300

const marks = /[*_~`[\]()<>!\\]/g

const hasManyMarks = (text: string): boolean => text.length > mostMarks && (text.match(marks)?.length ?? 0) > mostMarks

/** The two functions of the lexer that call each other for nested content. */
interface Nesting {
  blockTokens: Lex
  inlineTokens: Lex
}

type Lex = (src: string, tokens?: object[], ...rest: unknown[]) => object[]

function boundNesting(lexer: Nesting): void {
  let depth = 0
  const bounded =
    (lex: Lex, isTooMuch: (src: string) => boolean): Lex =>
    (src, tokens = [], ...rest) => {
      if (depth >= deepest || isTooMuch(src)) {
        tokens.push({ type: 'text', raw: src, text: src })
        return tokens
      }
      depth += 1
      try {
        return lex.call(lexer, src, tokens, ...rest)
      } finally {
        depth -= 1
      }
    }
  lexer.blockTokens = bounded(lexer.blockTokens, () => false)
  lexer.inlineTokens = bounded(lexer.inlineTokens, hasManyMarks)
}

/**
 * Returns the tokens of a piece of a text in Markdown, whose length the caller bounds. A part that is nested too deep, or has too many
 * marks to pair, becomes text; so does the whole piece if the lexer fails.
 */
export function lexPiece(text: string, links: LinkTargets): readonly LexedToken[] {
  try {
    const lexer = new Lexer({ gfm: true })
    boundNesting(lexer as object as Nesting)
    Object.assign(lexer.tokens.links, links)
    return lexer.lex(text) as readonly object[] as readonly LexedToken[]
  } catch {
    return [{ type: 'text', raw: text, text }]
  }
}
