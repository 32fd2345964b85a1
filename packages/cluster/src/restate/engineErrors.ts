import { type ErrorCode, RuntimeError, toErrorInfo, type ErrorInfo } from '../../../../src/protocol/errors.ts'

/** Errors that may not occur at the next attempt, here or on another worker. */
const passing: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'AGENT_DETACHED',
  'AGENT_ELSEWHERE',
  'AGENT_PAUSED',
  'INTERNAL',
  'RUNTIME_CLOSED',
  'STORE_APPEND_FAILED',
  'STORE_CLOSED',
  'STORE_LEASE_LOST',
  'STORE_LOCKED',
  'STORE_NOT_OPEN',
  'STORE_OPEN_FAILED',
  'STORE_READ_FAILED',
])

/** Returns the reason why a request is refused for good; `undefined` if it is worth another attempt. */
export function refusalOf(thrown: unknown): ErrorInfo | undefined {
  if (!(thrown instanceof RuntimeError) || passing.has(thrown.code)) return undefined
  return toErrorInfo(thrown, 'INTERNAL')
}
