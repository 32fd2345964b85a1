/** A piece of a line. Text is as people read it: entities and escapes are undone, and HTML is text like any other. */
export type MarkdownSpan =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'code'; readonly text: string }
  | { readonly type: 'emphasis' | 'strong' | 'strike'; readonly spans: readonly MarkdownSpan[] }
  /** `url` as it was written: see `linkTarget`. */
  | { readonly type: 'link'; readonly url: string; readonly spans: readonly MarkdownSpan[] }
  /** Never loaded: `alt` describes the image, and `url` is its address. */
  | { readonly type: 'image'; readonly alt: string; readonly url: string }
  | { readonly type: 'break' }

export type MarkdownAlign = 'left' | 'center' | 'right' | null

export type ListMark = '-' | '+' | '*'

export interface MarkdownItem {
  /** True for a task that is done, false for one that is not. */
  readonly isDone?: boolean
  readonly blocks: readonly MarkdownBlock[]
}

/** A part of a text in Markdown, from top to bottom. Line breaks inside a text are kept as `\n`. */
export type MarkdownBlock =
  | { readonly type: 'paragraph'; readonly spans: readonly MarkdownSpan[] }
  | { readonly type: 'heading'; readonly level: number; readonly spans: readonly MarkdownSpan[] }
  /** Has either `start`, the number of the first item, or `mark`, the sign before each item. Unfenced lines of a diff keep their signs. */
  | { readonly type: 'list'; readonly start: number; readonly mark: null; readonly items: readonly MarkdownItem[] }
  | { readonly type: 'list'; readonly start: null; readonly mark: ListMark; readonly items: readonly MarkdownItem[] }
  /** Each row has as many cells as the head. */
  | {
      readonly type: 'table'
      readonly align: readonly MarkdownAlign[]
      readonly head: readonly (readonly MarkdownSpan[])[]
      readonly rows: readonly (readonly (readonly MarkdownSpan[])[])[]
    }
  /** `language`: the first word after the fence, in small letters; `''` when there is none. */
  | { readonly type: 'code'; readonly language: string; readonly text: string }
  | { readonly type: 'quote'; readonly blocks: readonly MarkdownBlock[] }
  | { readonly type: 'rule' }

/** Returns the visible text of spans, without addresses. Pure. */
export const textOfSpans = (spans: readonly MarkdownSpan[]): string =>
  spans
    .map((span) => {
      if (span.type === 'break') return '\n'
      if (span.type === 'image') return span.alt
      return 'spans' in span ? textOfSpans(span.spans) : span.text
    })
    .join('')

/** Returns the visible text of blocks, a line for each paragraph, item, row or line of code. Pure. */
export function textOfBlocks(blocks: readonly MarkdownBlock[]): string {
  const lines = blocks.flatMap((block): string[] => {
    switch (block.type) {
      case 'paragraph':
      case 'heading':
        return [textOfSpans(block.spans)]
      case 'list':
        return block.items.map((item) => textOfBlocks(item.blocks))
      case 'table':
        return [block.head, ...block.rows].map((cells) => cells.map(textOfSpans).join(' '))
      case 'code':
        return [block.text]
      case 'quote':
        return [textOfBlocks(block.blocks)]
      case 'rule':
        return []
    }
  })
  return lines.join('\n')
}
