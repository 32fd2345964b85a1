import { errorTable, isErrorCode, type ErrorCode, type ErrorInfo } from '../protocol/errors.ts'

/** Errors whose text quotes what a model was asked or said. */
const quoting: ReadonlySet<string> = new Set<ErrorCode>(['OUTPUT_INVALID', 'MODEL_PROTOCOL', 'MODEL_BAD_REQUEST'])

/** With what is not closed, to the end: it is content all the same, and no quote is begun twice. */
const quotation = /"(?:[^"\\]|\\.|\\$)*(?:"|$)/gs

/** The text of an error for logs and spans: of one that quotes the conversation only what to do about it, and of an answer what was wrong. */
export function plainError({ code, message }: ErrorInfo): string {
  if (!quoting.has(code) || !isErrorCode(code)) return message
  if (code !== 'OUTPUT_INVALID') return errorTable[code]
  const [why = ''] = message.split(' It was: ')
  return `${why.replaceAll(quotation, '"…"')} ${errorTable[code]}`
}

/** Why a revert or prune was refused; nothing when it quotes what the model wrote for a step. */
export const plainReason = (reason: string | undefined): string | undefined =>
  reason?.includes('"') === true ? undefined : reason

/** The part of a reason before it quotes others; `undefined` for an empty one. */
export const headOf = (reason: string | undefined): string | undefined => reason?.split(':')[0] || undefined
