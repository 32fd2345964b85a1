import { RequestError, type AnyMessage, type Stream } from '@agentclientprotocol/sdk'
import type { TextSocket } from '../bridge/endpoint.ts'

/**
 * A WebSocket as ACP messages: one a text frame. What is no JSON is answered with a parse error. While more than `highWaterBytes`
 * wait in the socket a write is not over until its own bytes have left.
 */
export function socketStream(socket: TextSocket, { highWaterBytes }: { readonly highWaterBytes: number }): Stream {
  let isOpen = true
  const readable = new ReadableStream<AnyMessage>({
    start(controller) {
      socket.onText((text) => {
        if (!isOpen) return
        const message = readJson(text)
        if (message === undefined) socket.send(parseError)
        else controller.enqueue(message as AnyMessage)
      })
      socket.onClose(() => {
        if (isOpen) controller.close()
        isOpen = false
      })
    },
    cancel: () => {
      isOpen = false
      socket.close(1000, '')
    },
  })
  const writable = new WritableStream<AnyMessage>({
    write: (message) =>
      new Promise((resolve) => {
        socket.send(JSON.stringify(message), resolve)
        if (socket.bufferedAmount <= highWaterBytes) resolve()
      }),
  })
  return { readable, writable }
}

const parseError = JSON.stringify({ jsonrpc: '2.0', id: null, error: RequestError.parseError().toErrorResponse() })

/** `undefined`: it is no JSON, which has no such value. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
