import { functionsOf, type FunctionSpan } from './functions.ts'
import { listedFile } from './project.ts'
import type { TestRun } from './testRun.ts'
import { tokensOf, type Token } from './tokens.ts'

/** A suspected source file. */
export interface Suspect {
  readonly path: string
  readonly content: string
  readonly tokens: readonly Token[]
  readonly functions: readonly FunctionSpan[]
  /** Returns the likelihood that the fault is at a token: higher is more likely. */
  suspicion(index: number): number
}

const namesIn = (tokens: readonly Token[]): Set<string> =>
  new Set(tokens.filter(({ type }) => type === 'name').map(({ text }) => text))

/**
 * Ranks code in source files by a failing run: lines in the stack first, then functions that the failing tests name, then functions that
 * those call, then the rest.
 */
export function suspectsOf(
  sources: ReadonlyMap<string, string>,
  tests: ReadonlyMap<string, string>,
  run: TestRun,
): Suspect[] {
  const parsed = [...sources].map(([path, content]) => {
    const tokens = tokensOf(content)
    return { path, content, tokens, functions: functionsOf(tokens) }
  })
  const depth = callDepths(parsed, failingNames(tests, run))
  const listing = [...sources.keys()]
  const stack = new Set(run.places.map(({ path, line }) => `${listedFile(path, listing) ?? ''}:${line}`))
  return parsed.map((file) => ({
    ...file,
    suspicion: (index) => {
      const onStack = stack.has(`${file.path}:${file.tokens[index]!.line}`) ? 12 : 0
      const inner = innermost(file.functions, index)
      if (inner !== undefined) return onStack + byDepth(depth.get(inner.name))
      const near = namesIn(file.tokens.slice(Math.max(0, index - 8), index + 1))
      return onStack + ([...near].some((name) => depth.has(name)) ? 5 : 0)
    },
  }))
}

const byDepth = (depth: number | undefined): number => (depth === undefined ? 0 : Math.max(2, 8 - 2 * depth))

/** Returns the smallest function that contains a token. */
export const innermost = (functions: readonly FunctionSpan[], index: number): FunctionSpan | undefined =>
  functions
    .filter(({ first, last }) => first <= index && index <= last)
    .toSorted((a, b) => a.last - a.first - (b.last - b.first))
    .at(0)

/** Returns the names used in failing tests, or in the whole file if it is unknown which tests fail. */
function failingNames(tests: ReadonlyMap<string, string>, run: TestRun): Set<string> {
  const names = new Set<string>()
  const listing = [...tests.keys()]
  for (const [path, content] of tests) {
    const lines = content.split('\n')
    const places = run.places.filter((place) => listedFile(place.path, listing) === path)
    const blocks = places.map(({ line }) => blockAround(lines, line - 1))
    for (const text of blocks.length > 0 ? blocks : [content])
      for (const name of namesIn(tokensOf(text))) names.add(name)
  }
  return names
}

const caseStart = /^\s*(?:await\s+)?(?:test|it)\b[\w.]*\s*\(/

function blockAround(lines: readonly string[], at: number): string {
  let from = Math.min(at, lines.length - 1)
  while (from > 0 && !caseStart.test(lines[from]!)) from--
  let to = at + 1
  while (to < lines.length && !caseStart.test(lines[to]!)) to++
  return lines.slice(from, to).join('\n')
}

/** Returns the distance of each name from a failing test: 0 for names that it uses, 1 for names that those use, and so on. */
function callDepths(
  files: readonly { tokens: readonly Token[]; functions: readonly FunctionSpan[] }[],
  used: ReadonlySet<string>,
): Map<string, number> {
  const depths = new Map([...used].map((name) => [name, 0]))
  for (let depth = 0; depth < 3; depth++) {
    for (const { tokens, functions } of files) {
      for (const { name, body, last } of functions) {
        if (depths.get(name) !== depth) continue
        for (const inner of namesIn(tokens.slice(body, last + 1))) if (!depths.has(inner)) depths.set(inner, depth + 1)
      }
    }
  }
  return depths
}
