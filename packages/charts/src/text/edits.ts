import { lineDiff, type DiffLine, type LineDiff } from './lineDiff.ts'

/** The change of a file by a tool call, according to the call's input. */
export interface FileEdit {
  readonly path: string
  /** `edit`: a part is replaced; `write`: the whole file is replaced, and its content before is not known. */
  readonly type: 'edit' | 'write'
  /** Changed lines. For an edit, their numbers count within the given parts, not within the file. */
  readonly diff: LineDiff
  /** Remarks about unusual ends of the texts, which the lines do not show. */
  readonly endings: readonly string[]
}

type Input = Readonly<Record<string, unknown>>

const pathKeys = ['path', 'file_path', 'filePath', 'file', 'filename', 'target_file']
/** Field names of the old and the new text: ours first, then those of other tools. */
const pairs: readonly (readonly [before: string, after: string])[] = [
  ['oldText', 'newText'],
  ['old_string', 'new_string'],
  ['oldString', 'newString'],
  ['old_str', 'new_str'],
  ['old_text', 'new_text'],
  ['old', 'new'],
]
const contentKeys = ['content', 'contents', 'file_text', 'text']
const writes = /(?:^|[^a-z])(?:write|create|save|put)(?:[^a-z]|$)|(?:write|create|save)[_-]?file/i

/** Length in UTF-16 units up to which texts, taken together, are compared. */
const mostChars = 2_000_000

/**
 * Returns the edit that a call makes: a call of `edit_file`, of `write_file`, or of a tool that takes a path with an old and a new text, a list of
 * those as `edits`, or, if named like a tool that writes, a path with content. `undefined` for other calls and for texts too long to compare.
 * `context`: lines around changes, see `lineDiff`. Pure; never throws, whatever the input is.
 */
export function editOf(name: string, input: unknown, context?: number): FileEdit | undefined {
  if (!isInput(input)) return undefined
  const path = stringOf(input, pathKeys)
  if (path === undefined) return undefined
  const parts = partsOf(input)
  if (parts !== undefined) {
    if (isTooLong(parts)) return undefined
    return { path, type: 'edit', diff: joined(parts, context), endings: endingsOf(parts) }
  }
  const content = writes.test(name) ? stringOf(input, contentKeys) : undefined
  if (content === undefined || content.length > mostChars) return undefined
  const endings = content === '' || content.endsWith('\n') ? [] : ['no line break at its end']
  return { path, type: 'write', diff: lineDiff('', content), endings }
}

/** Returns true if a call is an edit, without comparing its texts. Pure; never throws. */
export function isEdit(name: string, input: unknown): boolean {
  if (!isInput(input) || stringOf(input, pathKeys) === undefined) return false
  return partsOf(input) !== undefined || (writes.test(name) && stringOf(input, contentKeys) !== undefined)
}

/**
 * Returns the fields of an edit's input that `editOf` does not show, such as `replaceAll`: a person who approves it is to see them too.
 * Empty for a call that is no edit. Pure; never throws.
 */
export function besideEdit(name: string, input: unknown): Readonly<Record<string, unknown>> {
  if (!isInput(input) || !isEdit(name, input)) return {}
  const path = keyOf(input, pathKeys)
  const without = (from: Input, keys: readonly (string | undefined)[]): Record<string, unknown> =>
    Object.fromEntries(Object.entries(from).filter(([key]) => !keys.includes(key)))
  if (partsOf(input) === undefined) return without(input, [path, keyOf(input, contentKeys)])
  const { edits } = input
  if (!Array.isArray(edits) || edits.length === 0) return without(input, [path, ...(pairIn(input) ?? [])])
  const beside = (edits as Input[]).map((edit) => without(edit, pairIn(edit) ?? []))
  const isMore = beside.some((fields) => Object.keys(fields).length > 0)
  return { ...without(input, [path, 'edits']), ...(isMore ? { edits: beside } : {}) }
}

const isInput = (value: unknown): value is Input => typeof value === 'object' && value !== null && !Array.isArray(value)

const stringOf = (input: Input, keys: readonly string[]): string | undefined => {
  const key = keyOf(input, keys)
  return key === undefined ? undefined : (input[key] as string)
}

/** Returns the name of the first of some fields that is a text. */
const keyOf = (input: Input, keys: readonly string[]): string | undefined =>
  keys.find((one) => Object.hasOwn(input, one) && typeof input[one] === 'string')

type Part = readonly [before: string, after: string]

function partsOf(input: Input): readonly Part[] | undefined {
  const { edits } = input
  if (!Array.isArray(edits) || edits.length === 0) {
    const part = partOf(input)
    return part === undefined ? undefined : [part]
  }
  const parts = edits.flatMap((edit: unknown) => (isInput(edit) ? [partOf(edit)] : [undefined]))
  return parts.every((part) => part !== undefined) ? parts : undefined
}

const pairIn = (input: Input): readonly [before: string, after: string] | undefined =>
  pairs.find((pair) => pair.every((key) => keyOf(input, [key]) !== undefined))

function partOf(input: Input): Part | undefined {
  const [before, after] = pairIn(input) ?? []
  return before === undefined || after === undefined ? undefined : [input[before] as string, input[after] as string]
}

const isTooLong = (parts: readonly Part[]): boolean =>
  parts.reduce((sum, [before, after]) => sum + before.length + after.length, 0) > mostChars

/** Describes the ends of the parts, as lines do not show a line break at the end of a part. */
const endingsOf = (parts: readonly Part[]): string[] =>
  parts.flatMap(([before, after], index) => {
    const which = parts.length === 1 ? '' : `change ${index + 1}: `
    return [
      ...(before.endsWith('\n') ? [`${which}what it replaces ends with a line break`] : []),
      ...(after.endsWith('\n') ? [`${which}what it puts there ends with a line break`] : []),
    ]
  })

/**
 * Returns true if the lines of an edit, compared with all lines around their changes, and its endings show all of its texts, so that no other call of
 * its tool looks like it. Each of several changes is a hunk. Some line breaks look like others. Pure; never throws.
 */
export function hidesNothing(name: string, input: unknown, { path, type, diff }: FileEdit): boolean {
  // The path is followed by what else there is.
  if (!isInput(input) || /[{\n]/.test(path)) return false
  const written = writes.test(name) ? stringOf(input, contentKeys) : undefined
  const parts = partsOf(input) ?? (written === undefined ? [] : [['', written] as const])
  if (parts.length === 0) return false
  return parts.every(([before, after], index) => {
    const lines = diff.hunks[index]?.lines ?? []
    return (type === 'write' || isWhole(before, lines, 'added')) && isWhole(after, lines, 'removed')
  })
}

/** Returns true if the lines, without those of one type, make up a text. */
function isWhole(text: string, lines: readonly DiffLine[], without: DiffLine['type']): boolean {
  const lined = lines.flatMap((line) => (line.type === without ? [] : [`${line.text}\n`])).join('')
  return lined === text || (lined === `${text}\n` && text !== '')
}

function joined(parts: readonly Part[], context?: number): LineDiff {
  const diffs = parts.map(([before, after]) => lineDiff(before, after, context))
  return {
    added: diffs.reduce((sum, { added }) => sum + added, 0),
    removed: diffs.reduce((sum, { removed }) => sum + removed, 0),
    hunks: diffs.flatMap(({ hunks }) => hunks),
    isCoarse: diffs.some(({ isCoarse }) => isCoarse),
  }
}
