import type { z } from 'zod'
import { placeOfKey } from './placeOfKey.ts'

/**
 * Describes the mistakes that a schema found in a file, a line each, in the order of the file: `file:line: key: what`. `source`: the content of the
 * file. Pure.
 */
export const wrongInFile = (file: string, source: string, { issues }: z.ZodError): string =>
  issues
    .flatMap((issue) => mistakesOf(issue))
    .map(({ path, message }) => ({ path, message, line: placeOfKey(source, path) }))
    .toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0))
    .map(({ path, message, line }) => {
      const named = path.length === 0 || message.startsWith('"') ? '' : `${path.map(String).join('.')}: `
      return `${file}${line === undefined ? '' : `:${line}`}: ${named}${/[.?]$/.test(message) ? message : `${message}.`}`
    })
    .join('\n')

/** A mistake at one key. */
export interface Mistake {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** Splits an issue of a schema into mistakes by key: each unknown key is a mistake of its own. */
export const mistakesOf = (issue: z.core.$ZodIssue): readonly Mistake[] => meantBy(issue).flatMap(keysOf)

function keysOf(issue: z.core.$ZodIssue): readonly Mistake[] {
  const { path, message } = issue
  if (issue.code === 'invalid_key') return [{ path, message: issue.issues[0]?.message ?? message }]
  if (issue.code !== 'unrecognized_keys') return [{ path, message }]
  const messages = message.split('\n')
  return issue.keys.map((key, index) => ({ path: [...path, key], message: messages[index] ?? message }))
}

/** Returns the issues of the type that was meant in a choice between types: the first that has such fields at all. */
function meantBy(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  const branches = issue.code === 'invalid_union' ? issue.errors : []
  const meant = branches.find((branch) => branch.some(({ path }) => path.length > 0))
  if (meant === undefined) return [issue]
  return meant.flatMap((inner) => meantBy({ ...inner, path: [...issue.path, ...inner.path] }))
}
