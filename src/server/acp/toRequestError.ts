import { RequestError } from '@agentclientprotocol/sdk'
import { RuntimeError, toErrorInfo, type ErrorCode } from '../../protocol/errors.ts'
import { outwardError } from '../bridge/outwardError.ts'

const invalidRequest = -32600
const invalidParams = -32602
const internal = -32603
const notFound = -32002

/** Our errors that are the client's doing, as codes of JSON-RPC and ACP. */
const rpcCodes: { readonly [C in ErrorCode]?: number } = {
  AGENT_NOT_FOUND: notFound,
  AGENT_STOPPED: notFound,
  INVALID_CONTENT: invalidParams,
  INVALID_OPTION: invalidParams,
  INVALID_ID: invalidParams,
  AGENT_EXISTS: invalidParams,
  AGENT_PAUSED: invalidRequest,
  QUEUE_FULL: invalidRequest,
  BRIDGE_FORBIDDEN: invalidRequest,
  BRIDGE_LIMIT: invalidRequest,
}

/** Any thrown value as the error of a request: our code is in `data`, beside the session where there is one. */
export function toRequestError(thrown: unknown, sessionId?: string): RequestError {
  if (thrown instanceof RequestError) return thrown
  const { code, message } = outwardError(toErrorInfo(thrown, 'INTERNAL'))
  const rpcCode = thrown instanceof RuntimeError ? (rpcCodes[thrown.code] ?? internal) : internal
  return new RequestError(rpcCode, message, sessionId === undefined ? { code } : { code, sessionId })
}
