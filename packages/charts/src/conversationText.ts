import { oneLine } from './plainText.ts'
import { fitted } from './textWidth.ts'
import type { ConversationModel } from './conversationModel.ts'
import { conversationRows, noteMarks, stepIds, stepRemarks } from './conversationRows.ts'

/** Functions that style text for a terminal, or return it unchanged. */
export interface TextPaint {
  dim(text: string): string
  yellow(text: string): string
}

export interface ConversationTextOptions {
  readonly paint?: TextPaint
  /** Maximum width of a line, in terminal columns. Default: no limit. */
  readonly columns?: number
  /** True to draw with ASCII characters only. Words are left unchanged. Default `false`. */
  readonly ascii?: boolean
}

const plain: TextPaint = { dim: (text) => text, yellow: (text) => text }
const lineMarks = { trunk: '●', branch: '○', line: '│ ', deep: '┊ ', fork: '├─╮', dash: '–', dot: '·', more: '…' }
const asciiMarks: typeof lineMarks = {
  trunk: '*',
  branch: 'o',
  line: '| ',
  deep: ': ',
  fork: '|\\',
  dash: '-',
  dot: '-',
  more: '~',
}
/** Depth up to which branches are indented. Deeper ones stay in this column. */
const deepest = 24

/** Writes a conversation as text lines, like `git log --graph`: the trunk at the left, notes below their step. Pure. */
export function conversationText(model: ConversationModel, options: ConversationTextOptions = {}): string[] {
  const { paint = plain, columns = Infinity, ascii = false } = options
  const marks = ascii ? asciiMarks : lineMarks
  const most = Math.max(1, Math.min(deepest, Math.floor(columns / 4)))
  const idWidth = idsWidth(model)
  const inAscii = (text: string): string =>
    ascii ? text.replaceAll('…', marks.more).replaceAll('·', marks.dot).replaceAll('–', marks.dash) : text
  const lines: string[] = []
  for (const row of conversationRows(model)) {
    const indent = row.depth <= most ? marks.line.repeat(row.depth) : marks.line.repeat(most - 1) + marks.deep
    // Cut before it is coloured: a cut colour would run on.
    const fit = (text: string): string => inAscii(fitted(text, columns - indent.length))
    if (row.type === 'branch') lines.push(indent + marks.fork)
    else if (row.type === 'note') {
      const mark = noteMarks[row.note][ascii ? 1 : 0]
      lines.push(indent + paint.yellow(fit(`${marks.line}${mark} ${oneLine(row.text)}`)))
    } else {
      const { step } = row
      const mark = step.isOnTrunk ? marks.trunk : marks.branch
      const text = fit(`${mark} ${stepIds(step).padEnd(idWidth - indent.length)}  ${step.label}${stepRemarks(step)}`)
      lines.push(indent + (step.isOnTrunk ? text : paint.dim(text)))
    }
  }
  return lines
}

function idsWidth({ steps }: ConversationModel): number {
  let last = 1
  for (const { nodes } of steps) last = Math.max(last, nodes.at(-1)!)
  return 2 * `n${last}`.length + 1
}
