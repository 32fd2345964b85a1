import type { TestRun } from './testRun.ts'

/** Facts about a failing assertion that point at the kind of fault. */
export interface Failure {
  readonly isUndefined: boolean
  readonly isPromise: boolean
  readonly isNaN: boolean
  readonly isBoolean: boolean
  readonly isText: boolean
  readonly isNegated: boolean
  /** Expected minus actual value, if both are numbers. */
  readonly delta: number | undefined
  /** Expected divided by actual value, if both are numbers other than 0. */
  readonly ratio: number | undefined
  /** Difference between two texts: `was` should become `shouldBe`, and follows `before`. */
  readonly difference: { readonly before: string; readonly was: string; readonly shouldBe: string } | undefined
  /** Name that is missing according to the error. */
  readonly missingName: string | undefined
}

/** Reads the first failure of a run. */
export function failureOf({ actual, expected, error }: TestRun): Failure {
  const [got, wanted] = [numberOf(actual), numberOf(expected)]
  const [gotText, wantedText] = [textOf(actual), textOf(expected)]
  const areNumbers = got !== undefined && wanted !== undefined
  return {
    isUndefined: actual === 'undefined' || /of undefined/.test(error ?? ''),
    isPromise: /\bPromise\b/.test(actual ?? '') || /\[object Promise\]/.test(actual ?? ''),
    isNaN: actual === 'NaN',
    isBoolean: /^(?:true|false)$/.test(actual ?? '') || /^(?:true|false)$/.test(expected ?? ''),
    isText: gotText !== undefined && wantedText !== undefined,
    isNegated: areNumbers && got !== 0 && got === -wanted,
    delta: areNumbers ? wanted - got : undefined,
    ratio: areNumbers && got !== 0 && wanted !== 0 ? wanted / got : undefined,
    difference: gotText !== undefined && wantedText !== undefined ? differenceOf(gotText, wantedText) : undefined,
    missingName: missingName(error ?? ''),
  }
}

const numberOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^-?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : undefined

const textOf = (text: string | undefined): string | undefined => /^(['"`])([\s\S]*)\1$/.exec(text ?? '')?.[2]

const missingName = (error: string): string | undefined =>
  /(?:^|[\s:])([\w$]+) is not defined/.exec(error)?.[1] ??
  /(?<![\w$])([\w$]{1,200}) is not (?:a function|a constructor|iterable)/.exec(error)?.[1] ??
  /does not provide an export named '([\w$]+)'/.exec(error)?.[1]

function differenceOf(was: string, shouldBe: string): Failure['difference'] {
  let same = 0
  while (same < Math.min(was.length, shouldBe.length) && was[same] === shouldBe[same]) same++
  let tail = 0
  const shorter = Math.min(was.length, shouldBe.length) - same
  while (tail < shorter && was.at(-1 - tail) === shouldBe.at(-1 - tail)) tail++
  return {
    before: was.slice(0, same),
    was: was.slice(same, was.length - tail),
    shouldBe: shouldBe.slice(same, shouldBe.length - tail),
  }
}
