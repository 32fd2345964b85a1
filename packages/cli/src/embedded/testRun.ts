/** Result of a test run, read from its output. */
export interface TestRun {
  readonly passed: boolean
  /** Reason why there is no usable result: the tests did not run at all, or did not end. */
  readonly problem: string | undefined
  /** Numbers of passed and failed tests; `undefined` if the output does not have them. */
  readonly counts: { readonly passed: number; readonly failed: number } | undefined
  /** Names of failing tests, if printed. */
  readonly failing: readonly string[]
  /** File positions in stacks and messages, in order, without duplicates. */
  readonly places: readonly { readonly path: string; readonly line: number }[]
  /** Expected value in the first failing assertion, as printed. `actual`: the actual value. */
  readonly expected: string | undefined
  readonly actual: string | undefined
  /** Message of the first error, such as `TypeError: x is not a function`. */
  readonly error: string | undefined
  readonly text: string
}

/** Number of characters at the end of the output that are searched for the outcome. */
const mostOfOutcome = 1_000
const outcome = /\[(exit code (\d+)|killed by \w+|timed out[^[\]]{0,60}?|aborted) after ([\d.]+) s[^[\]]*\]\s*$/
const placePattern = /(?<![^\s():'"<>|])(?:file:\/\/)?[^\w\s():'"<>|/]*((?:\/|\b)[^\s():'"<>|]+\.[cm]?[jt]sx?):(\d+)/g
// oxlint-disable-next-line no-control-regex -- an escape sequence begins with one
const escapes = /\u001B\[[\d;?]*[A-Za-z]/g

/** Patterns for the totals that test runners print. */
const totals: readonly { readonly passed: RegExp; readonly failed: RegExp }[] = [
  { passed: /^(?:ℹ|#) pass (\d+)/m, failed: /^(?:ℹ|#) fail (\d+)/m },
  { passed: /^[ \t]*Tests:?\s.*?(?<!\d)(\d+) passed/m, failed: /^[ \t]*Tests:?\s.*?(?<!\d)(\d+) failed/m },
  { passed: /^[ \t]*(\d+) passing\b/m, failed: /^[ \t]*(\d+) failing\b/m },
  { passed: /(?<!\d)(\d+) passed\b/, failed: /(?<!\d)(\d+) failed\b/ },
]

/** Reads the result of `run_command`. */
export function readTestRun(output: string, isError: boolean): TestRun {
  const text = output.replace(escapes, '')
  const end = outcome.exec(text.slice(-mostOfOutcome))
  return {
    passed: !isError,
    problem: isError ? problemOf(text, end) : undefined,
    counts: countsOf(text),
    failing: failingOf(text),
    places: placesOf(text),
    expected: valueOf(text, [/^[ \t]*expected: (.+?),?$/m, /^[ \t]*Expected: (.+)$/m]),
    actual: valueOf(text, [/^[ \t]*actual: (.+?),?$/m, /^[ \t]*Received: (.+)$/m]),
    error: /^[ \t]*(?:Uncaught )?(\w*Error(?: \[\w+\])?: .+)$/m.exec(text)?.[1] ?? tapError(text),
    text,
  }
}

/** Returns the duration of a run in seconds, as the tool reports it; 0 if it does not. */
export const secondsOf = (text: string): number => Number(outcome.exec(text.slice(-mostOfOutcome))?.[3] ?? 0)

function problemOf(text: string, end: RegExpExecArray | null): string | undefined {
  const firstLine = text.split('\n', 1)[0] ?? ''
  if (end === null) return firstLine
  if (end[1]!.startsWith('timed out')) return 'the tests did not end in time'
  if (end[2] === undefined) return `the tests were ${end[1]}`
  if (end[2] === '127' || end[2] === '126') return `the shell says: ${firstLine}`
  return undefined
}

function countsOf(text: string): TestRun['counts'] {
  for (const { passed, failed } of totals) {
    const [pass, fail] = [passed.exec(text)?.[1], failed.exec(text)?.[1]]
    if (pass !== undefined || fail !== undefined) return { passed: Number(pass ?? 0), failed: Number(fail ?? 0) }
  }
  return undefined
}

function failingOf(text: string): string[] {
  const names = [...text.matchAll(/^[ \t]*(?:✖|not ok \d+ -|✕|×) (.+?)(?: \([\d.]+ ?ms\))?$/gm)].map(
    ([, name]) => name!,
  )
  return [...new Set(names)].filter((name) => name !== 'failing tests:')
}

function placesOf(text: string): { path: string; line: number }[] {
  const seen = new Map<string, { path: string; line: number }>()
  for (const [, path, line] of text.matchAll(placePattern)) {
    const place = { path: decoded(path!), line: Number(line) }
    seen.set(`${place.path}:${place.line}`, place)
  }
  return [...seen.values()]
}

function decoded(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

function valueOf(text: string, patterns: readonly RegExp[]): string | undefined {
  for (const pattern of patterns) {
    const found = pattern.exec(text)?.[1]
    if (found !== undefined) return found.trim()
  }
  return undefined
}

function tapError(text: string): string | undefined {
  const message = /^[ \t]*error: (?!\|)["']?(.+?)["']?$/m.exec(text)?.[1]
  if (message === undefined) return undefined
  return `${/^[ \t]*name: '(\w+)'/m.exec(text)?.[1] ?? 'Error'}: ${message}`
}
