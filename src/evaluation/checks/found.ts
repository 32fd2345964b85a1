import type { Check } from '../suite/task.ts'
import type { Score } from '../results.ts'
import { cutMiddle } from '../../conversation/cutMiddle.ts'

/** What a check found. */
export interface Found {
  /** From 0 to 1. */
  readonly value: number
  readonly passed: boolean
  /** What was seen, for people. */
  readonly reason?: string | undefined
}

/** Longest reason. */
const mostReason = 2_000
/** Longest name that is made of what a check checks. */
const mostName = 60

export const found = (passed: boolean, reason?: string): Found => ({ value: passed ? 1 : 0, passed, reason })

const oneLine = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > mostName ? `${line.slice(0, mostName - 1).toWellFormed()}…` : line
}

/** What reports call a check: its name, else what it checks. Pure. */
export function nameOf(check: Check): string {
  if (check.name !== undefined) return check.name
  if ('command' in check) return oneLine(String(check['command']))
  if ('scorer' in check) return String(check['scorer'])
  if ('judge' in check) return `judge: ${oneLine(String(check['judge']))}`
  if ('json' in check) return check['file'] === undefined ? 'answer fits the schema' : `${String(check['file'])} fits the schema`
  if ('answer' in check) return 'answer'
  return String((check as { readonly file: string }).file)
}

/** A score of a check. Pure. */
export function scoreOf(check: Check, { value, passed, reason }: Found): Score {
  const { required = true, weight = 1 } = check
  const said = reason === undefined || reason === '' ? {} : { reason: cutMiddle(reason.toWellFormed(), mostReason) }
  const isJudged = 'judge' in check && !('command' in check)
  return { name: nameOf(check), value, passed, required, weight, ...(isJudged ? { judge: true as const } : {}), ...said }
}
