import type { Pending } from '../../protocol/pending.ts'
import { argumentsLine, jsonOf, oneLine } from './shortText.ts'

/** Longest line, in UTF-16 units; the row cuts it where there is no room. */
const most = 160

const isBare = (value: unknown): value is string => typeof value === 'string' && value !== ''

/**
 * A call on one line, by what it is given: `deploy production 2.4.1 · force: true`. Texts stand alone, anything else with its name, so that
 * `true` says of what. What is cut ends in "…". Pure.
 */
export function callWords(name: string, input: unknown): string {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    const given = input === undefined ? '' : oneLine(isBare(input) ? input : jsonOf(input), most)
    return oneLine(`${name} ${given}`, most)
  }
  const entries = Object.entries(input)
  const bare = entries.filter(([, value]) => isBare(value)).map(([, value]) => oneLine(value as string, most))
  const others = Object.fromEntries(entries.filter(([, value]) => !isBare(value)))
  const rest = Object.keys(others).length === 0 ? '' : ` · ${argumentsLine(others, most)}`
  return oneLine(`${name} ${bare.join(' ')}${rest}`, most)
}

/** What waits for a person, on one line. Pure. */
export function pendingWords(pending: Pending): string {
  if (pending.kind === 'question') return oneLine(`${pending.name} asks: ${pending.question}`, most)
  return callWords(pending.name, pending.input)
}

/** How often each tool waits for approval, and the keys of them. Pure. */
export function ofSameTool(pending: readonly Pending[], name: string): readonly string[] {
  return pending.filter((one) => one.kind === 'approval' && one.name === name).map(({ key }) => key)
}
