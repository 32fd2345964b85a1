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
import { cutMiddle } from '../../../../src/protocol/text/cutMiddle.ts'

/** Result of a check. */
export interface Found {
  /** Value from 0 to 1. */
  readonly value: number
  readonly passed: boolean
  /** Description of the finding, for people. */
  readonly reason?: string | undefined
}

/** Maximum length of a reason. */
const mostReason = 2_000
/** Maximum length of a name derived from the check's contents. */
const mostName = 60

export const found = (passed: boolean, reason?: string): Found => ({ value: passed ? 1 : 0, passed, reason })

const oneLine = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > mostName ? `${line.slice(0, mostName - 1).toWellFormed()}…` : line
}

/** Names derived from checks that have none, by kind. */
const names: { readonly [K in CheckKind]: (check: never) => string } = {
  command: ({ command }: CommandCheck) => oneLine(command),
  json: ({ file }: JsonCheck) => (file === undefined ? 'answer fits the schema' : `${file} fits the schema`),
  answer: () => 'answer',
  judge: ({ judge }: JudgeCheck) => `judge: ${oneLine(judge)}`,
  scorer: ({ scorer }: ScorerCheck) => scorer,
  file: ({ file }: FileCheck) => file,
}

/** Returns the name of a check in reports: its own, else one derived from its contents. Pure. */
export const nameOf = (check: Check): string => check.name ?? names[kindOf(check)!](check as never)

/** Returns the score of a check. Pure. */
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
