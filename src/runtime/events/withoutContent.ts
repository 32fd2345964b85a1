import { errorTable, isErrorCode, type ErrorCode, type ErrorInfo } from '../../protocol/errors.ts'

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

/** Returns why a revert or prune was refused; `undefined` when that quotes text that the model wrote for a step. */
export const plainReason = (reason: string | undefined): string | undefined =>
  reason?.includes('"') === true ? undefined : reason

/** Returns the part of a reason before its quotations; `undefined` if it is empty. */
export const headOf = (reason: string | undefined): string | undefined => reason?.split(':')[0] || undefined
