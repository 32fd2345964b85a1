import { cutEnd } from '../../../protocol/text/cutMiddle.ts'
import { mostWords } from './commandWords.ts'
import { compilePattern, type Pattern } from './subjects.ts'

/** Calls that a rule of an application is about, with a function that is asked about their arguments. */
export interface RuleOption {
  /** A rule as text: `pay`, `github_*`, `run_command(npm run *)`. */
  readonly tool: string
  /** Says whether it holds for a call with these arguments. If it throws, an `allow` does not hold, and an `ask` or `deny` does. */
  readonly when?: (input: never) => boolean
  /** For `allow`: the tool's own `needsApproval` is not asked. */
  readonly instead?: boolean
}

/** A rule that was read. */
export interface Rule {
  /** The rule for people and records; two rules with one text are one rule. */
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

/** Returns a rule, or what is wrong with it. Pure; never throws. */
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

/** How much a rule says: a pattern or a function more than a name, and that more than its beginning. */
export const weightOf = ({ pattern, when, isBeginning }: Rule): 0 | 1 | 2 =>
  pattern !== undefined || when !== undefined ? 2 : isBeginning ? 0 : 1
