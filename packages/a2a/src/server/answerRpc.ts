import type { IncomingMessage, ServerResponse } from 'node:http'
import { AgentCard } from '@a2a-js/sdk'
import { JsonRpcTransportHandler, ServerCallContext, validateVersion } from '@a2a-js/sdk/server'
import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import type { AgentAccess } from '../../../bridge/src/server/agentAccess.ts'
import type { OpenResponse } from '../../../bridge/src/server/endpoint.ts'
import { readJson } from '../../../bridge/src/server/readFrame.ts'
import { bodyOf } from '../../../bridge/src/server/requestBody.ts'
import { EventStream } from '../../../bridge/src/streams/eventStream.ts'
import { closeUnread, statusOf, wrongContentType } from '../../../bridge/src/streams/httpRefusals.ts'
import { AgentTasks } from './agentTasks.ts'

interface Asked {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly access: AgentAccess
  readonly answering: OpenResponse
  readonly definition: AgentDefinition
  readonly card: AgentCard
}

/** Answers a JSON-RPC request with JSON or server-sent events. */
export async function answerRpc({ request, response, access, answering, definition, card }: Asked): Promise<void> {
  const left = new AbortController()
  response.on('close', () => left.abort(new Error('the client has left')))
  answering.onLeave(() => left.abort(new Error('the server is closing')))
  const body = await bodyIn(request, response, access)
  if (body === undefined) return
  const id = idOf(body.value)
  try {
    const requestedVersion = headerOf(request, 'a2a-version') ?? '0.3'
    validateVersion(requestedVersion, card, 'JSONRPC')
    const handler = new JsonRpcTransportHandler(new AgentTasks({ access, definition, card, signal: left.signal }))
    const answer = await handler.handle(
      body.value as Record<string, unknown>,
      new ServerCallContext({ requestedVersion }),
    )
    if (!(Symbol.asyncIterator in answer)) return answerJson(response, 200, answer)
    // An error before the first event is an answer of its own.
    const first = await answer.next()
    await stream(first, answer, { response, access, id, signal: left.signal })
  } catch (thrown) {
    if (!response.headersSent)
      answerJson(response, 200, rpcError(id, JsonRpcTransportHandler.mapToJSONRPCError(thrown)))
  }
}

/** Reads the body. `undefined`: it was refused, or the client has left. */
async function bodyIn(
  request: IncomingMessage,
  response: ServerResponse,
  access: AgentAccess,
): Promise<{ readonly value: unknown } | undefined> {
  const wrong = wrongContentType(request)
  if (wrong !== undefined) return refuse(response, 415, wrong)
  try {
    const text = await bodyOf(request, access.limits.frameBytes)
    if (text === undefined) return undefined
    const read = readJson(text, access.limits.depth, 'message')
    if (!('problem' in read)) return read
    answerJson(response, 200, rpcError(null, { code: -32_700, message: read.problem }))
    return undefined
  } catch (thrown) {
    closeUnread(request, response)
    const { code, message } = access.outward(thrown)
    return refuse(response, statusOf(code), message)
  }
}

interface Streaming extends Pick<Asked, 'response' | 'access'> {
  readonly id: string | number | null
  readonly signal: AbortSignal
}

async function stream(
  first: IteratorResult<object, void>,
  answers: AsyncGenerator<object, void, undefined>,
  { response, access, id, signal }: Streaming,
): Promise<void> {
  if (response.destroyed) return void (await answers.return())
  const { clock, limits } = access
  const events = new EventStream<object>(response, { clock, everyMs: limits.pingMs, textOf: serverSent })
  try {
    for (let next = first; next.done !== true; next = await answers.next()) {
      events.write(next.value)
      if (events.isFull && !signal.aborted)
        await new Promise<void>((resolve) => {
          events.onDrain(resolve)
          signal.addEventListener('abort', () => resolve(), { once: true })
        })
    }
  } catch (thrown) {
    events.write(rpcError(id, JsonRpcTransportHandler.mapToJSONRPCError(thrown)))
  }
  events.end()
}

function* serverSent(event: object): Generator<string, void, undefined> {
  yield `data: ${JSON.stringify(event)}\n\n`
}

const rpcError = (id: string | number | null, error: object): object => ({ jsonrpc: '2.0', id, error })

function idOf(body: unknown): string | number | null {
  const id = typeof body === 'object' && body !== null && 'id' in body ? body.id : null
  return typeof id === 'string' || typeof id === 'number' ? id : null
}

function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}

export const answerCard = (response: ServerResponse, card: AgentCard): void =>
  answerJson(response, 200, AgentCard.toJSON(card))

function answerJson(response: ServerResponse, status: number, value: unknown): void {
  if (response.destroyed) return
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
  response.end(JSON.stringify(value))
}

export function refuse(response: ServerResponse, status: number, message: string): undefined {
  answerJson(response, status, { message })
  return undefined
}
