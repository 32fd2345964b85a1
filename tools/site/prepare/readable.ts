/** Lines of a declaration beyond which nobody reads it: the compiler has inferred it, and its module says what it is. */
const longest = 40
const shown = 24

const columns = new Set(['Modifier', 'Inherited from', 'Overrides', 'Implementation of'])

/** A page of TypeDoc without what makes it long: types of hundreds of lines, and where a member was declared. Pure. */
export const readable = (markdown: string): string =>
  markdown
    .replaceAll(/^```ts\n([\s\S]*?)^```$/gm, (whole, code: string) => {
      const lines = code.trimEnd().split('\n')
      if (lines.length <= longest) return whole
      return `\`\`\`ts\n${lines.slice(0, shown).join('\n')}\n// … and ${lines.length - shown} more lines\n\`\`\``
    })
    // The same type once more, as the text of what is returned.
    .replaceAll(/^ {2}\\\| [\s\S]*?(?=\n\n|$(?![\s\S]))/gm, (text) => {
      const lines = text.split('\n')
      return lines.length <= longest ? text : `${lines.slice(0, shown).join('\n')}\n …`
    })
    .replaceAll(/^#+ (?:Inherited from|Implementation of|Overrides)\n\n.*\n\n?/gm, '')
    .replaceAll(/^#+ Get Signature\n\n/gm, '')
    .replaceAll(/^\| .* \|$(?:\n^\|.*\|$)+/gm, (table) => withDefaults(narrowed(table)))

/** A default as doc comments say it: as a sentence of its own, or at the end of one. */
const ownSentence = /(?:^|(?<=\. ))Default(?:s to)?:? ((?:`[^`]*`|[^.`;]|\.(?=\d))+)\.(?: |$)/
const atEnd = /[,;] default:? ((?:`[^`]*`|[^.`;]|\.(?=\d))+)(?=[.;])/

/** A table of options with a column for what holds where an option is left out. Pure. */
export function withDefaults(table: string): string {
  const rows = table.split('\n').map(cellsOf)
  const heads = rows[0]!.map((head) => head.trim())
  const at = heads.indexOf('Description')
  if (heads[0] !== 'Property' || at === -1) return table
  const made = rows.map((cells, row) => {
    if (row < 2) return [...cells.slice(0, at), row === 0 ? ' Default ' : ' ------ ', ...cells.slice(at)]
    const text = cells[at]!.trim()
    const found = ownSentence.exec(text) ?? atEnd.exec(text)
    const rest = found === null ? text : text.replace(found[0], '').trim()
    return [
      ...cells.slice(0, at),
      ` ${found?.[1]?.trim() ?? '-'} `,
      ` ${rest === '' ? '-' : rest} `,
      ...cells.slice(at + 1),
    ]
  })
  return made.some((cells, row) => row > 1 && cells[at] !== ' - ')
    ? made.map((cells) => `|${cells.join('|')}|`).join('\n')
    : table
}

const cellsOf = (row: string): readonly string[] => row.slice(1, -1).split(/(?<!\\)\|/)

/** A table without some columns. */
function narrowed(table: string): string {
  const rows = table.split('\n').map(cellsOf)
  const dropped = new Set(rows[0]!.flatMap((head, at) => (columns.has(head.trim()) ? [at] : [])))
  if (dropped.size === 0) return table
  return rows.map((cells) => `|${cells.filter((_, at) => !dropped.has(at)).join('|')}|`).join('\n')
}
