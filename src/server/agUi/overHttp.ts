import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RunAgentInput } from '@ag-ui/core'
import { errorInfo, RuntimeError } from '../../protocol/errors.ts'
import type { OpenResponse } from '../bridge/endpoint.ts'
import type { AgentAccess } from '../bridge/agentAccess.ts'
import type { AgUiRun } from './agUiRun.ts'
import { EventStream } from './eventStream.ts'
import { answerError } from './httpStatus.ts'
import { readInput } from './readInput.ts'
import { RunView } from './runView.ts'

/** Answers a RunAgentInput with its run as server-sent events; what is wrong with it with a status and `{ code, message }`. */
export async function overHttp(
  request: IncomingMessage,
  response: ServerResponse,
  access: AgentAccess,
  {
    open,
    answering,
  }: { open(access: AgentAccess, input: RunAgentInput): Promise<AgUiRun>; readonly answering: OpenResponse },
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
    const run = await open(access, input)
    if (response.destroyed) return void run.takeEarly()
    const stream = new EventStream(response, { clock: access.clock, everyMs: access.limits.pingMs })
    const view = new RunView(run, stream)
    response.on('close', () => view.close())
    answering.onLeave(() => view.leave())
    view.start(
      input.messages,
      input.tools.map(({ name }) => name),
    )
  } catch (thrown) {
    if (response.headersSent) throw thrown
    // What was not read of the request must not be taken for the next one.
    if (!request.complete) response.setHeader('connection', 'close')
    answerError(response, access.outward(thrown))
  }
}

/** `undefined`: the client left before it had said everything. @throws RuntimeError `BRIDGE_LIMIT` */
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
