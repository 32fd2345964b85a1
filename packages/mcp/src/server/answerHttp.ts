import type { IncomingMessage, ServerResponse } from 'node:http'
import { toNodeHandler, type NodeIncomingMessageLike } from '@modelcontextprotocol/node'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { AgentAccess } from '../../../bridge/src/server/agentAccess.ts'
import type { OpenResponse } from '../../../bridge/src/server/endpoint.ts'
import { readJson } from '../../../bridge/src/server/readFrame.ts'
import { bodyOf } from '../../../bridge/src/server/requestBody.ts'
import type { Visit } from './serverParts.ts'
import type { McpHttp } from './mcpHttp.ts'

/** A request at an endpoint, with the access of its sender. */
interface Asked {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly access: AgentAccess
  readonly answering: OpenResponse
}

/** Answers a request at the endpoint. */
export async function answerHttp(http: McpHttp, { request, response, access, answering }: Asked): Promise<void> {
  const visit: Visit = { access, isLeaving: false }
  answering.onLeave(() => {
    visit.isLeaving = true
    response.destroy()
  })
  response.setHeader('access-control-expose-headers', 'mcp-session-id')
  const body = request.method === 'POST' ? await readBody(request, access) : { value: undefined }
  if (body === undefined) return
  if ('problem' in body) return refuse(request, response, body)
  const answer = (web: Request): Promise<Response> => http.answer(web, visit, body.value)
  await toNodeHandler({ fetch: answer })(request as NodeIncomingMessageLike, response, body.value)
}

type Body = { readonly value: unknown } | { readonly problem: string; readonly status: number }

/** Reads the body of a request; `undefined` if the client has left. */
async function readBody(request: IncomingMessage, { limits }: AgentAccess): Promise<Body | undefined> {
  try {
    const text = await bodyOf(request, limits.frameBytes)
    if (text === undefined) return undefined
    const read = readJson(text, limits.depth, 'message')
    return 'problem' in read ? { ...read, status: 400 } : read
  } catch (thrown) {
    if (!(thrown instanceof RuntimeError)) throw thrown
    return { problem: thrown.message, status: 413 }
  }
}

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { problem, status }: { readonly problem: string; readonly status: number },
): void {
  // The unread rest of the request must not be taken for the next one.
  if (!request.complete) response.setHeader('connection', 'close')
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32_700, message: problem }, id: null }))
}
