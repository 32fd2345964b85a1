import { z } from 'zod'
import { describeIssues, RuntimeError } from '../../../src/protocol/errors.ts'
import type { AgentAccess } from '../../bridge/src/server/agentAccess.ts'
import type { TextSocket } from '../../bridge/src/server/textSocket.ts'
import { readJson } from '../../bridge/src/server/readFrame.ts'
import { refusalText } from '../../bridge/src/streams/httpRefusals.ts'
import { SocketSink } from '../../bridge/src/streams/socketSink.ts'
import { ChatView } from './chatView.ts'
import type { Chats, Opened } from './openChat.ts'
import { writePast } from './pastExchange.ts'
import { checkChatId, readChatInput } from './readChat.ts'
import type { UiMessageChunk } from './uiTypes.ts'

const requestId = z.string().min(1).max(256)
const frameSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('send'), requestId, id: z.string(), body: z.looseObject({}).optional() }),
  z.looseObject({ type: z.literal('resume'), requestId, id: z.string() }),
  z.looseObject({ type: z.literal('abort'), requestId }),
])
type Frame = z.output<typeof frameSchema>

/** A request that is being answered. */
interface Answering {
  readonly id: string
  view?: ChatView
}

/** Milliseconds in which a client that stops listening may request the same chat again without stopping it. */
const againMs = 100

/**
 * Serves `WebSocketChatTransport`: requests for several chats over one socket, each answered by numbered chunks.
 * `stop()` sends `abort`, which aborts the run; a connection that is lost does not.
 */
export function overSocket(socket: TextSocket, access: AgentAccess, chats: Chats): void {
  const sink = new SocketSink(socket, access.limits.highWaterBytes)
  const answering = new Map<string, Answering>()
  let isClosed = false
  const send = (frame: object): void => {
    if (!isClosed) sink.send(frame)
  }

  function show(frame: Frame, one: Answering, opened: Opened): void {
    let sequence = -1
    send({ type: 'start', requestId: frame.requestId })
    const toClient = sink.of<UiMessageChunk>(
      (chunk) => ({ type: 'chunk', requestId: frame.requestId, sequence: (sequence += 1), chunk }),
      () => {
        answering.delete(frame.requestId)
        sink.send({ type: 'end', requestId: frame.requestId })
      },
    )
    if ('past' in opened) return writePast(opened.past, toClient)
    one.view = new ChatView({ ...opened, sink: toClient, clock: access.clock })
    one.view.start()
    opened.thread.release()
  }

  async function answer(frame: Exclude<Frame, { type: 'abort' }>): Promise<void> {
    const one: Answering = { id: frame.id }
    try {
      if (answering.size >= access.limits.subscriptions)
        throw new RuntimeError('BRIDGE_LIMIT', `${answering.size} requests are answered here, the most allowed.`)
      if (answering.has(frame.requestId))
        throw new RuntimeError('BRIDGE_FRAME', `requestId: ${JSON.stringify(frame.requestId)} is in use.`)
      answering.set(frame.requestId, one)
      checkChatId(frame.id)
      const opened =
        frame.type === 'send'
          ? await chats.open(access, readChatInput({ ...frame.body, ...frame }))
          : await chats.resume(access, frame.id)
      const isWanted = answering.get(frame.requestId) === one
      if (isClosed || !isWanted) return opened !== undefined && 'thread' in opened ? opened.thread.release() : undefined
      if (opened !== undefined) return show(frame, one, opened)
      answering.delete(frame.requestId)
      send({ type: 'no-active', requestId: frame.requestId })
    } catch (thrown) {
      if (answering.get(frame.requestId) === one) answering.delete(frame.requestId)
      send({
        type: 'error',
        requestId: frame.requestId,
        errorText: refusalText(access.outward(thrown), 'escapement/docs/useChat.md'),
      })
    }
  }

  function abort(request: string): void {
    const one = answering.get(request)
    if (one === undefined) return
    answering.delete(request)
    one.view?.close()
    access.clock.after(againMs, () => {
      if (isClosed || [...answering.values()].some(({ id }) => id === one.id)) return
      chats.stop(access, one.id).catch((thrown: unknown) => {
        send({
          type: 'error',
          requestId: request,
          errorText: refusalText(access.outward(thrown), 'escapement/docs/useChat.md'),
        })
      })
    })
  }

  socket.onText((text) => {
    const frame = readFrame(text, access.limits.depth)
    if ('problem' in frame) send({ type: 'error', requestId: frame.requestId, errorText: frame.problem })
    else if (frame.type === 'abort') abort(frame.requestId)
    else void answer(frame)
  })
  socket.onClose(() => {
    isClosed = true
    sink.close()
    for (const { view } of answering.values()) view?.close()
  })
}

function readFrame(text: string, maxDepth: number): Frame | { readonly problem: string; readonly requestId: string } {
  const json = readJson(text, maxDepth, 'frame')
  if ('problem' in json) return { problem: json.problem, requestId: '' }
  const read = frameSchema.safeParse(json.value)
  if (read.success) return read.data
  const given = (json.value as { requestId?: unknown } | null)?.requestId
  const problem = `This is not a frame of WebSocketChatTransport: ${describeIssues(read.error)}.`
  return { problem, requestId: typeof given === 'string' ? given.slice(0, 256) : '' }
}
