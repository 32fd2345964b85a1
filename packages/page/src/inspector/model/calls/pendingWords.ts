import { cutEnd } from '../../../../../../src/protocol/text/cutMiddle.ts'
import { visible } from '../../../../../charts/src/text/visible.ts'
import type { Pending } from '../../../../../../src/protocol/runs/pending.ts'
import { editOf } from '../../../../../charts/src/text/edits.ts'
import { jsonOf, oneLine } from '../words/shortText.ts'

/** Maximum length of a line, in UTF-16 units. The row cuts it where there is no room. */
const most = 160
/** Length up to which values come first: after a long one they would be cut off. */
const longestShort = 40

/** A call on one line; `isWhole`: true if the line has all of it. */
interface CallLine {
  readonly line: string
  readonly isWhole: boolean
}

function callLine(name: string, input: unknown): CallLine {
  const edit = editOf(name, input)
  if (edit !== undefined) {
    const { added, removed } = edit.diff
    return { line: `${fitted(`${name} ${edit.path}`).line} +${added} −${removed}`, isWhole: false }
  }
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return fitted(`${name} ${input === undefined ? '' : textOf(input)}`)
  const parts = Object.entries(input).map(([key, value]) =>
    isBare(value) ? { isNamed: false, text: value } : { isNamed: true, text: `${key}: ${jsonOf(value)}` },
  )
  const isShort = ({ text }: { readonly text: string }): boolean => text.length <= longestShort
  const short = parts.filter(isShort)
  const bare = short.filter(({ isNamed }) => !isNamed).map(({ text }) => text)
  const named = short.filter(({ isNamed }) => isNamed).map(({ text }) => text)
  const groups = [bare.join(' '), named.join(', '), ...parts.filter((part) => !isShort(part)).map(({ text }) => text)]
  const said = groups.filter((text) => text !== '').join(' · ')
  return fitted(`${name}${bare.length > 0 || said === '' ? ' ' : named.length > 0 ? ' · ' : ' '}${said}`)
}

const isBare = (value: unknown): value is string => typeof value === 'string' && value !== ''

const textOf = (value: unknown): string => (isBare(value) ? value : jsonOf(value))

/** Fits a text into a line: line breaks and invisible characters are replaced. */
function fitted(text: string): CallLine {
  const said = text.trim()
  // Longer than that it is cut anyway.
  const shown = visible(cutEnd(said, most * 4).replace(/\s+/g, ' '))
  const line = cutEnd(shown, most).replace(/\s{1,9}…$/, '…')
  return { line, isWhole: line === said }
}

/**
 * Describes a call on one line by its arguments: `refund A-17 · eur: 129.9 · Arrived broken`. Short values come first, texts stand alone,
 * and other values have their names, so that `true` can be understood; an edit has its size. A part that is cut ends in "…". Pure.
 */
export const callWords = (name: string, input: unknown): string => callLine(name, input).line

/** Describes an item that waits for a person on one line. Pure. */
export function pendingWords(pending: Pending): string {
  if (pending.kind === 'question') return oneLine(`${pending.name} asks: ${pending.question}`, most)
  return callWords(pending.name, pending.input)
}

/** Returns true if a call's line has everything that a person decides about. Other calls are decided where all of it is shown. Pure. */
export const isToldWhole = ({ name, input }: Pick<Pending, 'name' | 'input'>): boolean => callLine(name, input).isWhole

/** Returns the keys of the calls of one tool that wait for approval. Pure. */
export function ofSameTool(pending: readonly Pending[], name: string): readonly string[] {
  return pending.filter((one) => one.kind === 'approval' && one.name === name).map(({ key }) => key)
}
