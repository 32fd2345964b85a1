import type { z } from 'zod'
import { mistakesOf } from '../../../../src/protocol/checks/mistakes.ts'
import { placeOfKey } from './placeOfKey.ts'

/**
 * Describes the mistakes that a schema found in a file, a line each, in the order of the file:
 * `file:line: key: problem`. `source`: the content of the file. Pure.
 */
export const wrongInFile = (file: string, source: string, error: z.ZodError): string =>
  mistakesOf(error)
    .map(({ path, key, message }) => ({ path: key === undefined ? path : [...path, key], message }))
    .map((mistake) => ({ ...mistake, line: placeOfKey(source, mistake.path) }))
    .toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0))
    .map(({ path, message, line }) => {
      const named = path.length === 0 || message.startsWith('"') ? '' : `${path.map(String).join('.')}: `
      return `${file}${line === undefined ? '' : `:${line}`}: ${named}${/[.?]$/.test(message) ? message : `${message}.`}`
    })
    .join('\n')
