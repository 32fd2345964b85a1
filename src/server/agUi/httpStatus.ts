import type { ServerResponse } from 'node:http'
import type { ErrorInfo } from '../../protocol/errors.ts'

/** The status each error is answered with; any other is a fault of the server's. */
const statuses: { readonly [code: string]: number } = {
  BRIDGE_FRAME: 400,
  INVALID_CONTENT: 400,
  INVALID_ID: 400,
  INVALID_OPTION: 400,
  BRIDGE_FORBIDDEN: 403,
  AGENT_NOT_FOUND: 404,
  AGENT_EXISTS: 409,
  AGENT_STOPPED: 409,
  CALL_NOT_PENDING: 409,
  NOT_PAUSED: 409,
  STORE_LOCKED: 409,
  BRIDGE_LIMIT: 413,
  QUEUE_FULL: 429,
  AGENT_PAUSED: 503,
  RUNTIME_CLOSED: 503,
}

/** Answers a request that no run came of, as JSON. */
export function answerError(
  response: ServerResponse,
  { code, message }: ErrorInfo,
  status: number = statuses[code] ?? 500,
): void {
  if (response.destroyed) return
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
  response.end(JSON.stringify({ code, message }))
}
