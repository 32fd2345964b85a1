import { cutEnd } from '../../conversation/cutMiddle.ts'
import { visible } from '../../conversation/visible.ts'
import type { Pending } from '../../protocol/pending.ts'
import { editOf } from '../../text/edits.ts'
import { jsonOf, oneLine } from './shortText.ts'

/** Longest line, in UTF-16 units; the row cuts it where there is no room. */
const most = 160
/** Values up to here come first: after a long one they would be cut off. */
const longestShort = 40

/** A call on one line, and whether that is all of it. */
interface CallLine {
  readonly line: string
  readonly isWhole: boolean
}

function callLine(name: string, input: unknown): CallLine {
  const edit = editOf(name, input)
  if (edit !== undefined) {
    const { added, removed } = edit.diff
    return { line: fitted(`${name} ${edit.path} +${added} −${removed}`).line, isWhole: false }
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

/** Line breaks and what is not seen are not in a line as they are. */
function fitted(text: string): CallLine {
  const said = text.trim()
  // Longer than that it is cut anyway.
  const shown = visible(cutEnd(said, most * 4).replace(/\s+/g, ' '))
  const line = cutEnd(shown, most).replace(/\s{1,9}…$/, '…')
  return { line, isWhole: line === said }
}

/**
 * A call on one line, by what it is given: `refund A-17 · eur: 129.9 · Arrived broken`. Short values come first, texts stand alone, anything
 * else has its name, so that `true` says of what; of an edit its size. What is cut ends in "…". Pure.
 */
export const callWords = (name: string, input: unknown): string => callLine(name, input).line

/** What waits for a person, on one line. Pure. */
export function pendingWords(pending: Pending): string {
  if (pending.kind === 'question') return oneLine(`${pending.name} asks: ${pending.question}`, most)
  return callWords(pending.name, pending.input)
}

/** Tells whether the line of a call has all that a person decides about; another one is decided where all of it is shown. Pure. */
export const isToldWhole = ({ name, input }: Pick<Pending, 'name' | 'input'>): boolean => callLine(name, input).isWhole

/** How often each tool waits for approval, and the keys of them. Pure. */
export function ofSameTool(pending: readonly Pending[], name: string): readonly string[] {
  return pending.filter((one) => one.kind === 'approval' && one.name === name).map(({ key }) => key)
}
