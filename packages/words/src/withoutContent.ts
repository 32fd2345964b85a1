import { errorTable, isErrorCode, type ErrorCode, type ErrorInfo } from '../../../src/protocol/errors.ts'

/** Codes of errors whose text quotes a model's request or reply. */
const quoting: ReadonlySet<string> = new Set<ErrorCode>(['OUTPUT_INVALID', 'MODEL_PROTOCOL', 'MODEL_BAD_REQUEST'])

/** Matches a quotation, which extends to the end of the text if unclosed. */
const quotation = /"(?:[^"\\]|\\.|\\$)*(?:"|$)/gs

/**
 * Returns the text of an error for logs and spans: only the advice for an error that quotes the conversation, and only the problem for an invalid
 * answer.
 */
export function plainError({ code, message }: ErrorInfo): string {
  if (!quoting.has(code) || !isErrorCode(code)) return message
  if (code !== 'OUTPUT_INVALID') return errorTable[code]
  const [why = ''] = message.split(' It was: ')
  return `${why.replaceAll(quotation, '"…"')} ${errorTable[code]}`
}

/** Returns the part of a reason before the colon, since the rest may quote others; `undefined` for an empty reason. */
export const headOf = (reason: string | undefined): string | undefined => reason?.split(':')[0] || undefined
