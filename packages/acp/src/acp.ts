import { z } from 'zod'
import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import { RequestError, type AnyMessage, type Stream } from '@agentclientprotocol/sdk'
import { checkedBy } from '../../../src/protocol/errors.ts'
import { closeCodes } from '../../wire/src/bridgeProtocol.ts'
import type { Endpoint } from '../../bridge/src/server/endpoint.ts'
import type { TextSocket } from '../../bridge/src/server/textSocket.ts'
import { openAcp } from './openAcp.ts'
import { depthOf } from '../../bridge/src/server/readFrame.ts'

/** Options of an ACP endpoint. */
export interface AcpOptions {
  /** Name of the definition whose agents `session/new` spawns, unless the client names another. Default: the server's first. */
  readonly definition?: string | undefined
}

const optionsSchema = onlyFields({ definition: z.string().min(1).optional() })

/**
 * The Agent Client Protocol at `/acp`, for `runtime.serve({ endpoints: [acp()], definitions })`: one ACP connection per WebSocket.
 * A session is a root agent and its id is the agent's; a socket that closes ends no agent.
 *
 * @throws RuntimeError `INVALID_OPTION`
 */
export function acp(options: AcpOptions = {}): Endpoint {
  const { definition } = checkedBy(optionsSchema, options, 'acp')
  return {
    path: '/acp',
    connect(socket, access) {
      openAcp(socketStream(socket, access.limits), access, {
        definition,
        onStuck: () => socket.close(closeCodes.stuck, 'the client does not read'),
      })
    },
  }
}

/** Limits of a socket. */
interface SocketLimits {
  readonly highWaterBytes: number
  /** Maximum nesting depth of a message. */
  readonly depth: number
}

/**
 * A WebSocket as a stream of ACP messages, one per text frame. Text that is not JSON, or is nested too deeply, is answered with an error.
 * While more than `highWaterBytes` wait in the socket, a write resolves only when its bytes have left.
 */
export function socketStream(socket: TextSocket, { highWaterBytes, depth }: SocketLimits): Stream {
  let isOpen = true
  const readable = new ReadableStream<AnyMessage>({
    start(controller) {
      socket.onText((text) => {
        if (!isOpen) return
        if (depthOf(text) > depth) return socket.send(tooDeep)
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

const refusal = (error: RequestError): string =>
  JSON.stringify({ jsonrpc: '2.0', id: null, error: error.toErrorResponse() })

const parseError = refusal(RequestError.parseError())
const tooDeep = refusal(RequestError.invalidRequest({ code: 'BRIDGE_LIMIT' }, 'the message is nested too deeply'))

/** Parses a JSON text. Returns `undefined` if it is not JSON, which has no such value. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
