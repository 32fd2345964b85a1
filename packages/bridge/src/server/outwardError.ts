import {
  errorInfo,
  messageOf,
  RuntimeError,
  toErrorInfo,
  type ErrorCode,
  type ErrorInfo,
} from '../../../../src/protocol/errors.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import type { PauseReason } from '../../../../src/protocol/records.ts'

/** Messages for clients in place of messages that name the server's files, by error code. */
const outward: { readonly [C in ErrorCode]?: string } = {
  STORE_CLOSED: 'The store of the server is closed.',
  STORE_NOT_OPEN: 'The log is not open.',
  STORE_LOCKED: 'The log is held by another process.',
  AGENT_ELSEWHERE: 'The agent is open in another process.',
  STORE_OPEN_FAILED: 'The log could not be opened.',
  STORE_READ_FAILED: 'The log could not be read.',
  STORE_DELETE_FAILED: 'The log could not be deleted.',
  STORE_APPEND_FAILED: 'The log could not be written.',
  LOG_CORRUPT: 'The log is damaged.',
  LOG_VERSION: 'The log was written by a newer version.',
  AGENT_PAUSED: 'The agent is paused because its store failed.',
}

/** Error codes whose messages come from the thrown value and may name paths. */
const mayNamePaths: ReadonlySet<string> = new Set<ErrorCode>(['INTERNAL', 'CHILD_CRASHED'])

/** Pattern of paths in Node's messages, such as `ENOENT: no such file or directory, open '/srv/logs/a.jsonl'`. */
const quotedPath = /(["'`])(?:\/|[a-z]:[\\/]|\\\\).*?\1/gi

/** Returns an error as clients may see it: the same code, without the server's paths. */
export function outwardError(error: ErrorInfo): ErrorInfo {
  const what = Object.hasOwn(outward, error.code) ? outward[error.code as ErrorCode] : undefined
  if (what !== undefined) return errorInfo(error.code as ErrorCode, what)
  if (!mayNamePaths.has(error.code)) return error
  const message = error.message.replace(quotedPath, '$1…$1')
  return message === error.message ? error : { code: error.code, message }
}

/** Returns the message of any value that the application threw, as clients may see it. */
export const outwardMessage = (thrown: unknown): string =>
  outwardError(
    thrown instanceof RuntimeError ? toErrorInfo(thrown, 'INTERNAL') : { code: 'INTERNAL', message: messageOf(thrown) },
  ).message

/** Returns the reason for a pause as clients may see it. */
export const outwardReason = (reason: PauseReason): PauseReason =>
  reason.type === 'store' ? { ...reason, error: outwardError(reason.error) } : reason

/** Returns a value with an error or a pause reason, as clients may see it. */
export function withOutwardError<T extends { readonly error?: ErrorInfo | undefined; readonly reason?: unknown }>(
  value: T,
): T {
  const { error, reason } = value
  const isStore = (reason as PauseReason | undefined)?.type === 'store'
  if (error === undefined && !isStore) return value
  return {
    ...value,
    ...(error === undefined ? {} : { error: outwardError(error) }),
    ...(isStore ? { reason: outwardReason(reason as PauseReason) } : {}),
  }
}

const mayCarry: ReadonlySet<AgentEvent['type']> = new Set<AgentEvent['type']>(['error', 'run.end', 'child.ended'])

/** Returns an event as clients may see it; the same object if it names none of the server's files. */
export const outwardEvent = (event: AgentEvent): AgentEvent =>
  mayCarry.has(event.type) ? withOutwardError(event as AgentEvent & { readonly error?: ErrorInfo }) : event
