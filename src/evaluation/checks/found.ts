import {
  kindOf,
  type Check,
  type CheckKind,
  type CommandCheck,
  type FileCheck,
  type JsonCheck,
  type JudgeCheck,
  type ScorerCheck,
} from '../suite/task.ts'
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

/** What is made of checks that have no name. */
const names: { readonly [K in CheckKind]: (check: never) => string } = {
  command: ({ command }: CommandCheck) => oneLine(command),
  json: ({ file }: JsonCheck) => (file === undefined ? 'answer fits the schema' : `${file} fits the schema`),
  answer: () => 'answer',
  judge: ({ judge }: JudgeCheck) => `judge: ${oneLine(judge)}`,
  scorer: ({ scorer }: ScorerCheck) => scorer,
  file: ({ file }: FileCheck) => file,
}

/** What reports call a check: its name, else what it checks. Pure. */
export const nameOf = (check: Check): string => check.name ?? names[kindOf(check)!](check as never)

/** A score of a check. Pure. */
export function scoreOf(check: Check, { value, passed, reason }: Found): Score {
  const { required = true, weight = 1 } = check
  const said = reason === undefined || reason === '' ? {} : { reason: cutMiddle(reason.toWellFormed(), mostReason) }
  const isJudged = kindOf(check) === 'judge'
  return {
    name: nameOf(check),
    value,
    passed,
    required,
    weight,
    ...(isJudged ? { judge: true as const } : {}),
    ...said,
  }
}
