import { errorTable, isErrorCode, type ErrorCode, type ErrorInfo } from '../../../src/protocol/errors.ts'

/** Errors whose text quotes a request or a reply of a model. */
const quoting: ReadonlySet<string> = new Set<ErrorCode>(['OUTPUT_INVALID', 'MODEL_PROTOCOL', 'MODEL_BAD_REQUEST'])

/** Matches a quotation, to the end of the text if it is not closed. */
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

/** The part of a reason before it quotes others; `undefined` for an empty one. */
export const headOf = (reason: string | undefined): string | undefined => reason?.split(':')[0] || undefined
