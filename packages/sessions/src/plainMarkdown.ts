/** An open fence: its marks and its indentation. */
interface Fence {
  readonly marks: string
  readonly indent: number
}

/**
 * Returns a Markdown text that loads nothing and contains no HTML wherever it is shown: tags are shown as text, and images become links. Code
 * stays code where every reader of Markdown agrees: fences begin their lines, and an open fence is closed. Pure; linear.
 */
export function plainMarkdown(text: string): string {
  let fence = undefined as Fence | undefined
  /** True while every run of backticks since the last empty line is closed on its own line. */
  let isSure = true
  const lines = text.split(/\r\n?|\n/).map((line, at, all) => {
    if (fence !== undefined) {
      const { marks, indent } = fence
      if (!closes(line, fence)) return line.slice(Math.min(indent, indentOf(line)))
      fence = undefined
      return marks
    }
    const indent = contentOf(line)
    const [marks] = opening.exec(line.slice(indent)) ?? []
    if (marks !== undefined) {
      fence = { marks, indent }
      isSure = true
      const mark = line.slice(0, indent).trimEnd()
      // Some readers take the line after such an end for an address.
      const isAddress = all[at - 1]?.trimEnd().endsWith(']:') === true
      return `${mark}${mark !== '' || isAddress ? '\n' : ''}${tame(line.slice(indent))}`
    }
    if (/^[ \t]*$/.test(line)) isSure = true
    const pieces = codeIn(line)
    isSure &&= pieces !== undefined
    if (isSure) return pieces!.map(({ isCode, text: piece }) => (isCode ? piece : tame(piece))).join('')
    return tame(line)
  })
  return [...lines, ...(fence === undefined ? [] : [fence.marks])].join('\n')
}

const opening = /^(?:`{3,}(?=[^`]*$)|~{3,})/
/** Returns the index at which the content of a line begins, after list marks, which would end fences with them. */
const contentOf = (line: string): number => /^(?:[ \t]|[*+-][ \t]|\d{1,9}[.)][ \t])*/.exec(line)![0].length
const indentOf = (line: string): number => /^[ \t]*/.exec(line)![0].length

function closes(line: string, { marks, indent }: Fence): boolean {
  const [, end] = /^[ \t]*(`{3,}|~{3,})[ \t]*$/.exec(line) ?? []
  return end?.[0] === marks[0] && end!.length >= marks.length && indentOf(line) <= indent + 3
}

/** Escapes tags and images. A tag cannot begin with a space, and an entity neither begins an image nor is undone by a backslash. */
const tame = (text: string): string => text.replace(/<(?=[A-Za-z/!?])/g, '&lt;').replaceAll('![', '&#33;[')

interface Piece {
  readonly isCode: boolean
  readonly text: string
}

/** Returns true if a backtick may open code here. Within an address, some readers take it for a part of that. */
const mayOpen = (line: string, at: number): boolean => /\s[(*_"']{0,4}$/.test(` ${line.slice(0, at)}`.slice(-6))

/** Splits a line into code and other text; `undefined` if readers may disagree, because a run is unclosed or escaped, or there are table cells. */
function codeIn(line: string): readonly Piece[] | undefined {
  if (!line.includes('`')) return [{ isCode: false, text: line }]
  if (/\\`|\|/.test(line)) return undefined
  const runs = [...line.matchAll(/`+/g)]
  const pieces: Piece[] = []
  let done = 0
  for (let at = 0; at < runs.length; at += 2) {
    const [open, close] = [runs[at]!, runs[at + 1]]
    // Runs of other lengths within a piece of code are rare: such a line is not sure.
    if (close?.[0].length !== open[0].length || !mayOpen(line, open.index)) return undefined
    const end = close.index + close[0].length
    pieces.push(
      { isCode: false, text: line.slice(done, open.index) },
      { isCode: true, text: line.slice(open.index, end) },
    )
    done = end
  }
  return [...pieces, { isCode: false, text: line.slice(done) }]
}
