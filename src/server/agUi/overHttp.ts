import type { IncomingMessage, ServerResponse } from 'node:http'
import { errorInfo, RuntimeError, type ErrorInfo } from '../../protocol/errors.ts'
import type { OpenResponse } from '../bridge/endpoint.ts'
import type { AgentAccess } from '../bridge/agentAccess.ts'
import { EventStream } from './eventStream.ts'
import type { OpenRun } from './openRun.ts'
import { readInput } from './readInput.ts'
import { RunView } from './runView.ts'

/** Answers a RunAgentInput with its run as server-sent events, or with a status and `{ code, message }`. */
export async function overHttp(
  request: IncomingMessage,
  response: ServerResponse,
  access: AgentAccess,
  { open, connection }: { readonly open: OpenRun; readonly connection: OpenResponse },
): Promise<void> {
  if (request.method !== 'POST') {
    response.setHeader('allow', 'POST, OPTIONS')
    return answerError(response, errorInfo('BRIDGE_FRAME', `A run is asked for with POST, not ${request.method}.`), 405)
  }
  const [type = ''] = (request.headers['content-type'] ?? '').split(';', 1)
  if (type.trim().toLowerCase() !== 'application/json') {
    const what = `The content type is ${JSON.stringify(type)}, not "application/json".`
    return answerError(response, errorInfo('BRIDGE_FRAME', what), 415)
  }
  try {
    const text = await bodyOf(request, access.limits.frameBytes)
    if (text === undefined) return
    const input = readInput(text, access.limits.depth)
    const run = await open(input)
    if (response.destroyed) return void run.takeBacklog()
    const stream = new EventStream(response, { clock: access.clock, everyMs: access.limits.pingMs })
    const view = new RunView(run, stream)
    response.on('close', () => view.close())
    connection.onLeave(() => view.leave())
    view.start(input)
  } catch (thrown) {
    if (response.headersSent) throw thrown
    // The unread rest of the request must not be taken for the next one.
    if (!request.complete) response.setHeader('connection', 'close')
    answerError(response, access.outward(thrown))
  }
}

/** `undefined`: the client left before the end. @throws RuntimeError `BRIDGE_LIMIT` */
async function bodyOf(request: IncomingMessage, maxBytes: number): Promise<string | undefined> {
  const tooLarge = (): RuntimeError => new RuntimeError('BRIDGE_LIMIT', `The input is larger than ${maxBytes} bytes.`)
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge()
  return await new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const take = (chunk: Buffer): void => {
      bytes += chunk.length
      if (bytes <= maxBytes) return void chunks.push(chunk)
      request.off('data', take)
      request.pause()
      reject(tooLarge())
    }
    request.on('data', take)
    request.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')))
    request.on('close', () => resolve(undefined))
    request.on('error', () => resolve(undefined))
  })
}

/** Status by error code; all others are the server's fault. */
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

/** Answers with an error as JSON. */
function answerError(
  response: ServerResponse,
  { code, message }: ErrorInfo,
  status: number = statuses[code] ?? 500,
): void {
  if (response.destroyed) return
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
  response.end(JSON.stringify({ code, message }))
}
