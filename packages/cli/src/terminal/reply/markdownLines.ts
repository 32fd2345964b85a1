import { withoutControls } from '../../../../charts/src/plainText.ts'
import { textWidth } from '../../../../charts/src/textWidth.ts'
import { codeTokens, type CodeKind } from '../../../../charts/src/text/codeTokens.ts'
import type { MarkdownBlock, MarkdownItem } from '../../../../charts/src/text/markdownTree.ts'
import type { Colours } from '../colours.ts'
import { filledRows } from './filledRows.ts'
import { spanRuns, type ReplyLook } from './spanRuns.ts'
import { markdownTableLines } from './tableLines.ts'

/** Lines of a terminal, and how many of them, from the top, stay the same while the block grows at its end. */
export interface GrowingLines {
  readonly lines: readonly string[]
  readonly stable: number
}

/** Minimum width of text. Deeper indents do not reduce it. */
const leastColumns = 12
const longestRule = 40

/** Lays out a block as lines of at most `columns`. Only lines of code may be longer, since they are not wrapped. Pure. */
export function blockLines(block: MarkdownBlock, look: ReplyLook, columns: number): GrowingLines {
  const { colours } = look
  switch (block.type) {
    case 'paragraph':
      return changing(filledRows(spanRuns(block.spans, look), columns).map(({ text }) => text))
    case 'heading': {
      const paint = block.level === 1 ? (text: string) => colours.bold(colours.underline(text)) : colours.bold
      const mark = colours.theme === 'none' ? [{ text: `${'#'.repeat(block.level)} `, paint }] : []
      return changing(filledRows([...mark, ...spanRuns(block.spans, look, paint)], columns).map(({ text }) => text))
    }
    case 'list':
      return listLines(block, look, columns)
    case 'quote': {
      const bar = '│ '
      const inner = sequence(block.blocks, look, roomFor(bar, columns), true)
      return { ...inner, lines: inner.lines.map((line) => `${colours.dim(bar)}${line}`) }
    }
    case 'code':
      return codeLines(block, colours)
    case 'table':
      return changing(markdownTableLines(block, look, columns))
    case 'rule':
      return changing([colours.dim('─'.repeat(Math.min(columns, longestRule)))])
  }
}

const changing = (lines: readonly string[]): GrowingLines => ({ lines, stable: 0 })

const roomFor = (before: string, columns: number): number => Math.max(leastColumns, columns - textWidth(before))

/** Returns true if an empty line separates two blocks. Lists with different markers, as in a diff without a fence, are not separated. */
export const areApart = (before: MarkdownBlock | undefined, block: MarkdownBlock): boolean =>
  !(before?.type === 'list' && block.type === 'list' && before.mark !== null && block.mark !== null)

/** Lays out blocks below each other. Only the last one grows. */
function sequence(blocks: readonly MarkdownBlock[], look: ReplyLook, columns: number, isSpaced: boolean): GrowingLines {
  const lines: string[] = []
  let stable = 0
  for (const [index, block] of blocks.entries()) {
    const before = blocks[index - 1]
    stable = lines.length
    const isApart = isSpaced ? areApart(before, block) : before?.type === 'paragraph' && block.type === 'paragraph'
    if (before !== undefined && isApart) lines.push('')
    const own = blockLines(block, look, columns)
    if (own.stable > 0) stable = lines.length + own.stable
    for (const line of own.lines) lines.push(line)
  }
  return { lines, stable }
}

function listLines(
  { start, mark, items }: Extract<MarkdownBlock, { type: 'list' }>,
  look: ReplyLook,
  columns: number,
): GrowingLines {
  const lines: string[] = []
  let stable = 0
  for (const [index, item] of items.entries()) {
    const own = itemLines(item, mark === null ? `${start + index}. ` : `${mark === '*' ? '•' : mark} `, look, columns)
    stable = lines.length + own.stable
    for (const line of own.lines) lines.push(line)
  }
  return { lines, stable }
}

function itemLines({ isDone, blocks }: MarkdownItem, bullet: string, look: ReplyLook, columns: number): GrowingLines {
  const mark = isDone === undefined ? bullet : isDone ? '[x] ' : '[ ] '
  const { lines, stable } = sequence(blocks, look, roomFor(mark, columns), false)
  const margin = ' '.repeat(mark.length)
  const first = look.colours.dim(mark)
  if (lines.length === 0) return changing([first.trimEnd()])
  return { stable, lines: lines.map((line, index) => (index === 0 ? first + line : line === '' ? '' : margin + line)) }
}

const paints: { readonly [K in CodeKind]?: Exclude<keyof Colours, 'theme'> } = {
  keyword: 'magenta',
  string: 'green',
  comment: 'dim',
  number: 'yellow',
  name: 'blue',
  added: 'green',
  removed: 'red',
}

/** Returns the lines of a code block with its fences, for copying. */
function codeLines({ language, text }: Extract<MarkdownBlock, { type: 'code' }>, colours: Colours): GrowingLines {
  const lines = colouredCode(language, text, colours)
  const [opening, closing] = [`\`\`\`${withoutControls(language).replaceAll('\n', '')}`, '```'].map(colours.dim)
  return { lines: [opening!, ...lines, closing!], stable: text === '' ? 0 : lines.length }
}

/** Returns the lines of code in colours, each line with its own codes, without control characters. Pure. */
export function colouredCode(language: string, text: string, colours: Colours): string[] {
  const lines = ['']
  for (const token of codeTokens(language, withoutControls(text))) {
    const paint = paints[token.kind]
    for (const [index, part] of token.text.split('\n').entries()) {
      if (index > 0) lines.push('')
      if (part !== '') lines[lines.length - 1] += paint === undefined ? part : colours[paint](part)
    }
  }
  return lines
}
