import { inspect, isDeepStrictEqual, stripVTControlCharacters } from 'node:util'
import { lines } from 'uvu/diff'

const maxLines = 120
const maxDepth = 8
const maxLineChars = 300

const leaf = (value: unknown): string =>
  inspect(value, { depth: 0, maxStringLength: 200, maxArrayLength: 5, breakLength: Infinity }).slice(0, maxLineChars)

/** One short line that shows a value; never throws, whatever the value. */
export function valueText(value: unknown): string {
  try {
    if (value instanceof Error) return `${value.name}: ${value.message}`.slice(0, maxLineChars)
    return inspect(value, { depth: 2, maxStringLength: 200, maxArrayLength: 20, breakLength: Infinity }).slice(
      0,
      maxLineChars,
    )
  } catch {
    return 'a value that cannot be shown'
  }
}

/** Keys sorted, so that their order makes no difference; `undefined` for what is shown as a leaf. */
function entriesOf(value: unknown): readonly (readonly [string, unknown])[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (Array.isArray(value)) return value.map((item: unknown, index) => [String(index), item] as const)
  if (value instanceof Map) return [...value].map(([key, item]) => [leaf(key), item] as const)
  if (value instanceof Set) return [...value].map((item: unknown, index) => [String(index), item] as const)
  if (value instanceof Error || value instanceof Date || value instanceof RegExp || ArrayBuffer.isView(value))
    return undefined
  return Object.keys(value)
    .toSorted()
    .map((key) => [key, (value as Record<string, unknown>)[key]] as const)
}

interface Page {
  readonly lines: string[]
  whole: boolean
}

function print(page: Page, label: string, value: unknown, ancestors: readonly unknown[]): void {
  if (page.lines.length >= maxLines) {
    page.whole = false
    return
  }
  const indent = '  '.repeat(ancestors.length)
  if (ancestors.includes(value)) return void page.lines.push(`${indent}${label}[Circular]`)
  const entries = entriesOf(value)
  if (entries === undefined || entries.length === 0 || ancestors.length >= maxDepth) {
    if (entries !== undefined && entries.length > 0) page.whole = false
    if (typeof value === 'string' && value.length > 200) page.whole = false
    return void page.lines.push(`${indent}${label}${leaf(value)}`)
  }
  const list = Array.isArray(value)
  const name = (value as object).constructor?.name
  const title = name === undefined || name === 'Object' || name === 'Array' ? '' : `${name} `
  page.lines.push(`${indent}${label}${title}${list ? '[' : '{'}`)
  for (const [key, item] of entries) {
    if (!page.whole && page.lines.length >= maxLines) return
    print(page, list ? '' : `${key}: `, item, [...ancestors, value])
  }
  page.lines.push(`${indent}${list ? ']' : '}'}`)
}

function pageOf(value: unknown): Page {
  const page: Page = { lines: [], whole: true }
  print(page, '', value, [])
  return page
}

/** Path at which two values first differ, and the two parts. Iterates on paths, stops at cycles. */
function firstDifference(actual: unknown, expected: unknown): { path: string; actual: unknown; expected: unknown } {
  let path = ''
  let [a, b] = [actual, expected]
  for (let depth = 0; depth < 100; depth++) {
    const [left, right] = [entriesOf(a), entriesOf(b)]
    if (left === undefined || right === undefined || Array.isArray(a) !== Array.isArray(b)) break
    const there = new Map(right)
    const here = new Map(left)
    const key =
      left.find(([name, item]) => !there.has(name) || !isDeepStrictEqual(item, there.get(name)))?.[0] ??
      right.find(([name]) => !here.has(name))?.[0]
    if (key === undefined) break
    path += Array.isArray(a) ? `[${key}]` : `.${key}`
    if (!here.has(key) || !there.has(key)) {
      return {
        path,
        actual: here.has(key) ? here.get(key) : 'nothing',
        expected: there.has(key) ? there.get(key) : 'nothing',
      }
    }
    ;[a, b] = [here.get(key), there.get(key)]
  }
  return { path, actual: a, expected: b }
}

/** The parts of two long strings around their first difference. */
function aroundDifference(actual: string, expected: string): readonly [string, string] {
  let at = 0
  while (at < actual.length && actual[at] === expected[at]) at++
  const from = Math.max(0, at - 40)
  return [
    `from ${from}: ${leaf(actual.slice(from, from + 160))}`,
    `from ${from}: ${leaf(expected.slice(from, from + 160))}`,
  ]
}

function differenceOf(actual: unknown, expected: unknown): string {
  const [left, right] = [pageOf(actual), pageOf(expected)]
  const [a, b] = [left.lines.join('\n'), right.lines.join('\n')]
  if (left.whole && right.whole && a !== b) {
    return a.includes('\n') || b.includes('\n') ? lines(a, b).trimEnd() : `++${b}  (Expected)\n--${a}  (Actual)`
  }
  const first = firstDifference(actual, expected)
  const [shownA, shownB] =
    typeof first.actual === 'string' && typeof first.expected === 'string'
      ? aroundDifference(first.actual, first.expected)
      : [valueText(first.actual), valueText(first.expected)]
  const same = shownA === shownB ? '\n(they print alike: another constructor, reference, symbol, or 0 and -0)' : ''
  return `first difference at ${first.path.slice(-maxLineChars) || 'the top'}:\n++${shownB}  (Expected)\n--${shownA}  (Actual)${same}`
}

/** Describes how two values differ, in a bounded number of lines and characters however large they are; never throws. */
export function differenceText(actual: unknown, expected: unknown): string {
  try {
    const all = differenceOf(actual, expected).split('\n')
    const shown = all.slice(0, maxLines).map(shortened)
    return all.length > maxLines ? [...shown, `… ${all.length - maxLines} more lines`].join('\n') : shown.join('\n')
  } catch {
    return '(the difference cannot be shown)'
  }
}

const shortened = (line: string): string =>
  line.length <= maxLineChars * 2 ? line : `${stripVTControlCharacters(line).slice(0, maxLineChars)}…`
