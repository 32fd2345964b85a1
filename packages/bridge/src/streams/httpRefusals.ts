import type { IncomingMessage, ServerResponse } from 'node:http'
import { adviceOf, type ErrorInfo } from '../../../../src/protocol/errors.ts'

/** Returns the reason not to read the body of a request; `undefined` if its content type is JSON. */
export function wrongContentType({ headers }: IncomingMessage): string | undefined {
  const [type = ''] = (headers['content-type'] ?? '').split(';', 1)
  if (type.trim().toLowerCase() === 'application/json') return undefined
  return `The content type is ${JSON.stringify(type)}, not "application/json".`
}

/** Prepares an error answer, so that the unread rest of the request is not taken for the next request. */
export function closeUnread(request: IncomingMessage, response: ServerResponse): void {
  if (!request.complete) response.setHeader('connection', 'close')
}

/** HTTP status by error code. All other errors are the server's fault. */
const statuses: { readonly [code: string]: number } = {
  ANSWER_INVALID: 400,
  BRAKING_OFF: 400,
  BRIDGE_FRAME: 400,
  INVALID_CONTENT: 400,
  INVALID_ID: 400,
  INVALID_OPTION: 400,
  BRIDGE_UNAUTHORISED: 401,
  BRIDGE_FORBIDDEN: 403,
  AGENT_NOT_FOUND: 404,
  AGENT_DETACHED: 409,
  AGENT_ELSEWHERE: 409,
  AGENT_EXISTS: 409,
  AGENT_STOPPED: 409,
  CALL_NOT_PENDING: 409,
  NOT_PAUSED: 409,
  STORE_LEASE_LOST: 409,
  STORE_LOCKED: 409,
  BRIDGE_LIMIT: 413,
  PROMPT_TOO_LARGE: 413,
  QUEUE_FULL: 429,
  REQUEST_INTERRUPTED: 502,
  AGENT_PAUSED: 503,
  AGENT_UNREACHABLE: 503,
  RUNTIME_CLOSED: 503,
  SERVER_CLOSED: 503,
}

/** Returns the HTTP status for an error code. */
export const statusOf = (code: string): number => statuses[code] ?? 500

/** Error codes whose advice is for clients of the bridge, or for the developer of the server. */
const foreign = ['BRIDGE_FRAME', 'INVALID_OPTION'] as const

/** Returns the error's message for a refusal. Advice for others is replaced by the `page` of the documentation that lists the requests. */
export function refusalText({ code, message }: ErrorInfo, page: string): string {
  const known = foreign.find((one) => one === code)
  const advice = known === undefined ? undefined : adviceOf(known)
  if (advice === undefined || !message.endsWith(advice)) return message
  return `${message.slice(0, message.length - advice.length)} ${page} lists the requests.`
}
