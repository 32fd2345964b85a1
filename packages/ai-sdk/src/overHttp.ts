import type { IncomingMessage, ServerResponse } from 'node:http'
import { errorInfo, RuntimeError, type ErrorInfo } from '../../../src/protocol/errors.ts'
import type { AgentAccess } from '../../bridge/src/server/agentAccess.ts'
import type { OpenResponse } from '../../bridge/src/server/endpoint.ts'
import { bodyOf } from '../../bridge/src/server/requestBody.ts'
import { EventStream } from '../../bridge/src/streams/eventStream.ts'
import { closeUnread, refusalText, statusOf, wrongContentType } from '../../bridge/src/streams/httpRefusals.ts'
import { serverSent } from '../../bridge/src/streams/piecesOf.ts'
import { ChatView } from './chatView.ts'
import type { Chats, Opened } from './openChat.ts'
import { writePast } from './pastExchange.ts'
import { checkChatId, readChat } from './readChat.ts'
import { messagesOf } from './uiMessages.ts'
import type { UiMessageChunk } from './uiTypes.ts'

/** A request with its response. */
interface Exchanged {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly access: AgentAccess
  readonly chats: Chats
  readonly connection: OpenResponse
}

type Answer = (exchanged: Exchanged, id: string) => Promise<void>

const routes: { readonly [place in 'chat' | 'messages' | 'stream']: { readonly [method: string]: Answer } } = {
  chat: { POST: send },
  messages: { GET: list },
  stream: { GET: resume, DELETE: stop },
}

/**
 * Answers the requests of `useChat`: `POST` at the endpoint's own path sends a message, `GET <id>/stream` resumes, `DELETE <id>/stream`
 * stops, `GET <id>` returns the messages so far. A refusal is a sentence, because `useChat` shows the body of an answer as the error.
 */
export async function overHttp(exchanged: Exchanged, path: string): Promise<void> {
  const { request, response, access } = exchanged
  try {
    const { place, id } = placeOf(request, path)
    const answer = Object.hasOwn(routes[place], request.method ?? '') ? routes[place][request.method!] : undefined
    if (answer === undefined) {
      const methods = [...Object.keys(routes[place]), 'OPTIONS'].join(', ')
      response.setHeader('allow', methods)
      return refuse(response, errorInfo('BRIDGE_FRAME', `This is for ${methods}, not ${request.method}.`), 405)
    }
    if (id !== '') checkChatId(id)
    await answer(exchanged, id)
  } catch (thrown) {
    if (response.headersSent) throw thrown
    closeUnread(request, response)
    refuse(response, access.outward(thrown))
  }
}

function placeOf({ url = '' }: IncomingMessage, path: string): { place: keyof typeof routes; id: string } {
  const { pathname } = new URL(url, 'http://localhost')
  const [, id, stream, ...more] = pathname.slice(path.length).split('/')
  if (id === undefined) return { place: 'chat', id: '' }
  if (more.length > 0 || (stream !== undefined && stream !== 'stream') || id === '')
    throw new RuntimeError('AGENT_NOT_FOUND', 'There is nothing here; a chat has "/<id>" and "/<id>/stream".')
  return { place: stream === undefined ? 'messages' : 'stream', id: decoded(id) }
}

function decoded(id: string): string {
  try {
    return decodeURIComponent(id)
  } catch {
    return id
  }
}

async function send(exchanged: Exchanged): Promise<void> {
  const { request, response, access, chats } = exchanged
  const wrong = wrongContentType(request)
  if (wrong !== undefined) return refuse(response, errorInfo('BRIDGE_FRAME', wrong), 415)
  const text = await bodyOf(request, access.limits.frameBytes)
  if (text === undefined) return
  show(exchanged, await chats.open(access, readChat(text, access.limits.depth)))
}

async function resume(exchanged: Exchanged, id: string): Promise<void> {
  const { response, access, chats } = exchanged
  const opened = await chats.resume(access, id)
  if (opened === undefined) return void response.writeHead(204).end()
  show(exchanged, opened)
}

async function stop({ response, access, chats }: Exchanged, id: string): Promise<void> {
  await chats.stop(access, id)
  if (!response.destroyed) response.writeHead(204).end()
}

async function list({ response, access, chats }: Exchanged, id: string): Promise<void> {
  const exchanges = await chats.messages(access, id)
  if (response.destroyed) return
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
  response.end(JSON.stringify(exchanges.flatMap(messagesOf)))
}

/** Streams an opened exchange to a client. */
function show({ response, access, connection }: Exchanged, opened: Opened): void {
  if (response.destroyed) return 'past' in opened ? undefined : opened.thread.release()
  const { clock, limits } = access
  const sink = new EventStream<UiMessageChunk>(response, {
    clock,
    everyMs: limits.pingMs,
    textOf: serverSent,
    headers: { 'x-vercel-ai-ui-message-stream': 'v1' },
    last: 'data: [DONE]\n\n',
  })
  if ('past' in opened) return writePast(opened.past, sink)
  const view = new ChatView({ ...opened, sink, clock })
  response.on('close', () => view.close())
  // A stream that ends is taken for a whole message; of one that breaks off clients know that it can be resumed.
  connection.onLeave(() => {
    view.close()
    response.destroy()
  })
  view.start()
  opened.thread.release()
}

/** Answers with the reason of a refusal, as a sentence. */
function refuse(response: ServerResponse, { code, message }: ErrorInfo, status: number = statusOf(code)): void {
  if (response.destroyed) return
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' })
  response.end(refusalText({ code, message }, 'escapement/docs/useChat.md'))
}
