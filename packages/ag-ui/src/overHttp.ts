import type { IncomingMessage, ServerResponse } from 'node:http'
import { errorInfo, type ErrorInfo } from '../../../src/protocol/errors.ts'
import type { OpenResponse } from '../../bridge/src/server/endpoint.ts'
import type { AgentAccess } from '../../bridge/src/server/agentAccess.ts'
import { bodyOf } from '../../bridge/src/server/requestBody.ts'
import { closeUnread, refusalText, statusOf, wrongContentType } from '../../bridge/src/streams/httpRefusals.ts'
import { EventStream } from '../../bridge/src/streams/eventStream.ts'
import { eventText } from './eventText.ts'
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
    return answerError(response, errorInfo('BRIDGE_FRAME', `Request a run with POST, not ${request.method}.`), 405)
  }
  const wrong = wrongContentType(request)
  if (wrong !== undefined) return answerError(response, errorInfo('BRIDGE_FRAME', wrong), 415)
  try {
    const text = await bodyOf(request, access.limits.frameBytes)
    if (text === undefined) return
    const input = readInput(text, access.limits.depth)
    const run = await open(input)
    if (response.destroyed) return void run.takeBacklog()
    const stream = new EventStream(response, { clock: access.clock, everyMs: access.limits.pingMs, textOf: eventText })
    const view = new RunView(run, stream)
    response.on('close', () => view.close())
    connection.onLeave(() => view.leave())
    view.start(input)
  } catch (thrown) {
    if (response.headersSent) throw thrown
    closeUnread(request, response)
    answerError(response, access.outward(thrown))
  }
}

/** Answers with an error as JSON. */
function answerError(response: ServerResponse, { code, message }: ErrorInfo, status: number = statusOf(code)): void {
  if (response.destroyed) return
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
  response.end(JSON.stringify({ code, message: refusalText({ code, message }, 'escapement/docs/agUi.md') }))
}
