import { cutEnd } from '../../../../src/protocol/text/cutMiddle.ts'

/** Maximum number of differences that are counted. A request with more differences is simply another one. */
const mostCounted = 50
const mostShown = 3
const longestValue = 70
const longestPath = 120

interface Difference {
  readonly path: string
  readonly expected: unknown
  readonly seen: unknown
}

/**
 * Describes how one JSON value differs from another, in one line of bounded length; `undefined` if they are equal. The order of keys does not matter.
 */
export function requestDifference(expected: unknown, seen: unknown): { text: string; count: number } | undefined {
  const found: Difference[] = []
  for (const difference of differences(expected, seen, '')) {
    if (found.push(difference) >= mostCounted) break
  }
  if (found.length === 0) return undefined
  const rest = found.length - mostShown
  const more = rest > 0 ? `; and ${found.length >= mostCounted ? 'at least ' : ''}${rest} more` : ''
  return { text: found.slice(0, mostShown).map(describe).join('; ') + more, count: found.length }
}

function* differences(expected: unknown, seen: unknown, path: string): Generator<Difference> {
  if (Object.is(expected, seen)) return
  if (Array.isArray(expected) && Array.isArray(seen)) {
    for (let index = 0; index < Math.max(expected.length, seen.length); index++) {
      yield* differences(expected[index], seen[index], `${path}[${index}]`)
    }
  } else if (isObject(expected) && isObject(seen)) {
    for (const key of new Set([...Object.keys(expected), ...Object.keys(seen)])) {
      yield* differences(own(expected, key), own(seen, key), pathTo(path, key))
    }
  } else {
    yield { path, expected, seen }
  }
}

const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const own = (value: { readonly [key: string]: unknown }, key: string): unknown =>
  Object.hasOwn(value, key) ? value[key] : undefined

function pathTo(path: string, key: string): string {
  if (!/^[\w$]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}

function describe({ path, expected, seen }: Difference): string {
  const start = windowStart(expected, seen)
  const where = path.length > longestPath ? `…${path.slice(-longestPath)}` : path
  return `${where}: expected ${show(expected, start)}, saw ${show(seen, start)}`
}

/** Returns the index from which two long texts are shown, shortly before their first difference. */
function windowStart(expected: unknown, seen: unknown): number {
  if (typeof expected !== 'string' || typeof seen !== 'string') return 0
  let same = 0
  while (same < expected.length && expected[same] === seen[same]) same++
  return same > 30 ? same - 20 : 0
}

function show(value: unknown, start: number): string {
  if (value === undefined) return 'nothing'
  if (typeof value !== 'string') return clip(JSON.stringify(value))
  const text = value.slice(start, start + longestValue)
  const isCut = start + longestValue < value.length
  return `${start > 0 ? '…' : ''}${JSON.stringify(text)}${isCut ? '…' : ''}`
}

const clip = (text: string): string => cutEnd(text, longestValue)
