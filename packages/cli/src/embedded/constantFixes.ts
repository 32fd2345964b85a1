import type { Failure } from './failure.ts'
import type { Replacement } from './fileEdit.ts'
import type { Site } from './site.ts'

/** Returns constants that would turn the actual value into the expected one, judged by the difference and by common units. */
export function constantFixes({ token, failure }: Site): Replacement[] {
  const { start, end, text, type } = token
  if (type === 'string') {
    const fixed = textFix(text.slice(1, -1), failure.difference)
    return fixed === undefined ? [] : [{ start, end, text: text[0]! + fixed + text[0]! }]
  }
  if (type === 'template') {
    const fixed = textFix(text, failure.difference)
    return fixed === undefined ? [] : [{ start, end, text: fixed }]
  }
  if (type !== 'number' || Number.isNaN(Number(text))) return []
  const values = new Set([...scaled(Number(text), failure), ...(units[text] ?? [])])
  return [...values].map((value) => ({ start, end, text: String(value) }))
}

/** Constants that are often confused. */
const units: Readonly<Record<string, readonly number[]>> = {
  '10': [100],
  '100': [1000, 10],
  '1000': [100, 60],
  '24': [60],
  '60': [24, 3600, 1000],
  '3600': [60],
}

/** Factors between units. Any other factor would pass the test with a made-up constant. */
const factors = new Set([2, 7, 10, 12, 24, 60, 100, 1000, 1024, 3600])

/** Returns constants in another unit, if the result is off by a plain factor. */
function scaled(value: number, { ratio }: Failure): number[] {
  if (ratio === undefined || value === 0) return []
  const factor = Number(Math.max(ratio, 1 / ratio).toPrecision(12))
  return factors.has(factor) ? [value * ratio, value / ratio].map((number) => Number(number.toPrecision(12))) : []
}

/** Returns the literal with its wrong part replaced; `undefined` if the difference is not in it. */
function textFix(literal: string, difference: Failure['difference']): string | undefined {
  if (difference === undefined || literal === '') return undefined
  const { before, was, shouldBe } = difference
  if (/['"`\\$]/.test(shouldBe)) return undefined
  if (was !== '') {
    const at = literal.indexOf(was)
    return at === -1 ? undefined : literal.slice(0, at) + shouldBe + literal.slice(at + was.length)
  }
  for (let size = Math.min(before.length, literal.length); size > 0; size--) {
    const at = literal.indexOf(before.slice(-size))
    if (at !== -1) return literal.slice(0, at + size) + shouldBe + literal.slice(at + size)
  }
  return undefined
}
