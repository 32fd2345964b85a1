import { TextHash } from '../../../protocol/text/textHash.ts'

/** Numbers in a text, in their order, and the fingerprint of the text around them. */
export interface Amounts {
  readonly numbers: readonly string[]
  readonly around: string
}

/** Maximum number of numbers in a text that reports progress. A text with more of them is a table or a listing. */
const mostNumbers = 32

/** Pattern of numbers with any digits of Unicode, and separators of thousands. It matches in linear time. */
const number = /\p{Nd}+(?:[,_'’]\p{Nd}{3})*(?:\.\p{Nd}+)?/gu

/** Returns the numbers of a text; `undefined` if it has none, or too many. */
export function amountsIn(text: string): Amounts | undefined {
  const numbers: string[] = []
  for (const [found] of text.matchAll(number)) {
    if (numbers.length === mostNumbers) return undefined
    numbers.push(found.replaceAll(/[,_'’]/g, ''))
  }
  return numbers.length === 0 ? undefined : { numbers, around: new TextHash().add(text.replaceAll(number, '#')).value }
}

/** Returns true if the later text differs from the earlier one only in numbers, none of which became smaller. */
export const hasGrown = (earlier: Amounts | undefined, later: Amounts | undefined): boolean => {
  if (earlier === undefined || later === undefined || earlier.around !== later.around) return false
  if (earlier.numbers.length !== later.numbers.length) return false
  const steps = later.numbers.map((value, at) => compare(earlier.numbers[at]!, value))
  return steps.every((step) => step <= 0) && steps.some((step) => step < 0)
}

/** Compares numbers of any length and script. The digits of a script are in order. */
function compare(a: string, b: string): number {
  const [[wholeA, restA], [wholeB, restB]] = [partsOf(a), partsOf(b)]
  if (wholeA.length !== wholeB.length) return wholeA.length - wholeB.length
  const [left, right] = [wholeA + restA, wholeB + restB]
  return left < right ? -1 : left > right ? 1 : 0
}

function partsOf(value: string): readonly [whole: string, rest: string] {
  const point = value.indexOf('.')
  const whole = point < 0 ? value : value.slice(0, point)
  return [whole.replace(/^0+(?=.)/, ''), point < 0 ? '' : value.slice(point)]
}
