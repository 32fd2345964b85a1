import { cutEnd } from '../../../protocol/text/cutMiddle.ts'
import { mostWords } from './commandWords.ts'
import { compilePattern, type Pattern } from './subjects.ts'

/** A rule of an application, with a function that is asked about the arguments of a call. */
export interface RuleOption {
  /** A rule as text: `pay`, `github_*`, `run_command(npm run *)`. */
  readonly tool: string
  /** Returns true if the rule holds for a call with these arguments. If it throws, an `allow` does not hold, and an `ask` or `deny` does. */
  readonly when?: (input: never) => boolean
  /** For `allow`: true if the tool's own `needsApproval` is not asked. */
  readonly instead?: boolean
}

/** A rule in parsed form. */
export interface Rule {
  /** Text of the rule for people and records. Two rules with one text are one rule. */
  readonly text: string
  readonly name: string
  readonly isBeginning: boolean
  readonly pattern?: Pattern
  readonly when?: (input: unknown) => unknown
  readonly instead: boolean
}

const longestRule = 2_000
const form = /^([A-Za-z0-9_-]{0,64})(\*?)(?:\(([^]*)\))?$/
const expected = 'write a rule as name, name* or name(pattern)'

/** Returns a rule, or the problem with its text. Pure; never throws. */
export function readRule(given: string | RuleOption): Rule | string {
  const { tool: said, when, instead = false } = typeof given === 'string' ? { tool: given } : given
  const text = said.trim()
  const shown = JSON.stringify(cutEnd(text, 100))
  if (text.length > longestRule) return `the rule ${shown} has ${text.length} characters, more than ${longestRule}`
  const [, name, star, pattern] = form.exec(text) ?? []
  if (name === undefined || (name === '' && star === '')) return `${shown} is no rule: ${expected}`
  const isBeginning = star === '*'
  const about = when === undefined ? text : `${text} (when)`
  const rule = {
    text: about,
    name,
    isBeginning,
    instead,
    ...(when === undefined ? {} : { when: when as Rule['when'] & object }),
  }
  if (pattern === undefined) return rule
  if (pattern.trim() === '') return `the rule ${shown} has an empty pattern: leave out "()" for all calls`
  if (pattern.split(/\s+/, mostWords + 1).length > mostWords && !pattern.startsWith('='))
    return `the rule ${shown} has more than ${mostWords} words`
  const compiled = compilePattern(pattern)
  return typeof compiled === 'string' ? `the rule ${shown}: ${compiled}` : { ...rule, pattern: compiled }
}

/** Returns how specific a rule is: a pattern or a function counts more than a name, and a name more than its beginning. */
export const weightOf = ({ pattern, when, isBeginning }: Rule): 0 | 1 | 2 =>
  pattern !== undefined || when !== undefined ? 2 : isBeginning ? 0 : 1
