/** Arguments of one `edit_file` call. */
export interface FileEdit {
  readonly path: string
  readonly oldText: string
  readonly newText: string
}

/** Range of a file in UTF-16 offsets, with its replacement text. */
export interface Replacement {
  readonly start: number
  readonly end: number
  readonly text: string
}

export const inverseOf = ({ path, oldText, newText }: FileEdit): FileEdit => ({
  path,
  oldText: newText,
  newText: oldText,
})

export const editKey = ({ path, oldText, newText }: FileEdit): string => JSON.stringify([path, oldText, newText])

const occursOnce = (text: string, part: string): boolean => {
  const at = text.indexOf(part)
  return at !== -1 && text.indexOf(part, at + 1) === -1
}

/** Applies an edit to a text as `edit_file` did to the file; `undefined` if it does not fit. */
export const applyEdit = (content: string, { oldText, newText }: FileEdit): string | undefined =>
  occursOnce(content, oldText) ? content.replace(oldText, () => newText) : undefined

/** Returns an edit of whole lines around the replacement, as few as make both the edit and its inverse unique. */
export function toEdit(path: string, content: string, { start, end, text }: Replacement): FileEdit | undefined {
  const changed = content.slice(0, start) + text + content.slice(end)
  const grown = text.length - (end - start)
  let from = content.lastIndexOf('\n', start - 1) + 1
  let to = lineEnd(content, end)
  for (;;) {
    const edit = { path, oldText: content.slice(from, to), newText: changed.slice(from, to + grown) }
    if (occursOnce(content, edit.oldText) && occursOnce(changed, edit.newText)) return edit
    if (from === 0 && to === content.length) return undefined
    from = from === 0 ? 0 : content.lastIndexOf('\n', from - 2) + 1
    to = to === content.length ? to : lineEnd(content, to + 1)
  }
}

const lineEnd = (content: string, at: number): number => {
  const end = content.indexOf('\n', at)
  return end === -1 ? content.length : end
}
