import { valueText } from './differenceText.ts'
import type { Failure } from './runCase.ts'

const maxMessageChars = 2_000
const maxFrames = 6

const ours =
  /[\\/]test[\\/]support[\\/](assert|runCase|suite|worker)\.ts|[\\/]uvu[\\/]|node:internal|\(native\)|<anonymous>\)?$/

function stackOf(error: Error): readonly string[] {
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  return frames
    .filter((line) => !ours.test(line))
    .slice(0, maxFrames)
    .map((line) => line.trim())
}

function errorText(error: Error, depth: number): readonly string[] {
  const { details } = error as { details?: unknown }
  const text = `${error.name}: ${error.message}`
  const message = text.length > maxMessageChars ? `${text.slice(0, maxMessageChars)}…` : text
  const parts = message.split('\n')
  if (typeof details === 'string') parts.push(...details.split('\n').map((line) => `  ${line}`))
  parts.push(...stackOf(error))
  if (depth < 3 && error instanceof AggregateError) {
    parts.push(...error.errors.slice(0, 3).flatMap((inner) => ['one of its errors:', ...thrownText(inner, depth + 1)]))
  }
  if (depth < 3 && error.cause !== undefined) parts.push('caused by:', ...thrownText(error.cause, depth + 1))
  return parts
}

const thrownText = (thrown: unknown, depth: number): readonly string[] =>
  thrown instanceof Error ? errorText(thrown, depth) : [`threw ${valueText(thrown)}, which is not an Error`]

/** The lines that tell a person what went wrong; bounded, and never throws, whatever was thrown. */
export function failureText({ during, thrown }: Failure): readonly string[] {
  const where = during === 'case' || during === 'file' ? [] : [`${during}:`]
  try {
    return [...where, ...thrownText(thrown, 0)]
  } catch {
    return [...where, 'threw a value that cannot be shown']
  }
}

/** One error with the text of all failures, which uvu prints unchanged: uvu's own text would hold differences of any size. */
export function failureError(failures: readonly Failure[]): Error {
  const lines = failures.flatMap((failure) => failureText(failure))
  return Object.assign(new Error(lines.join('\n    ')), { name: 'Failure', stack: '' })
}
