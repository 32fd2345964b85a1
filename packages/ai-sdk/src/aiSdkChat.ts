import type { AbortOptions } from '../../../src/protocol/bridge/abortOptions.ts'
import { z } from 'zod'
import { checkedBy } from '../../../src/protocol/errors.ts'
import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import type { Endpoint } from '../../bridge/src/server/endpoint.ts'
import { mustBeServed } from '../../bridge/src/server/oneDefinition.ts'
import { Chats } from './openChat.ts'
import { overHttp } from './overHttp.ts'
import { overSocket } from './overSocket.ts'

export interface AiSdkChatOptions {
  /**
   * Name of the definition of every chat's agent: other agents are refused, and `serve` refuses a name that it does not
   * serve. Default: a new chat is of the first one served, and any agent within reach is a chat.
   */
  readonly definition?: string
  /** Default `/api/chat`, where `useChat` looks for it. */
  readonly path?: string
  /** How `stop()` aborts: `{ background: false }` lets background calls continue, `'run'` lets those of earlier runs continue. Default: all end. */
  readonly abort?: AbortOptions
}

const optionsSchema = onlyFields({
  definition: z.string().min(1).optional(),
  path: z
    .string()
    .regex(/^(?:\/[\w.~-]+)+$/, 'give a path such as "/api/chat"')
    .optional(),
  abort: onlyFields({ background: z.union([z.boolean(), z.literal('run')]).optional() }).optional(),
})

/**
 * Serves agents to `useChat` of `@ai-sdk/react`, over HTTP and for its `WebSocketChatTransport`: a chat is a root agent. Give it to
 * `runtime.serve` in `endpoints`; the same `aiSdkChat()` to one server only. A client that leaves aborts nothing.
 *
 * @throws RuntimeError `INVALID_OPTION`
 */
export function aiSdkChat(options: AiSdkChatOptions = {}): Endpoint {
  const { definition, path = '/api/chat', abort } = checkedBy(optionsSchema, options, 'aiSdkChat')
  const chats = new Chats(definition, abort)
  return {
    path,
    below: true,
    check: (served) => (definition === undefined ? undefined : mustBeServed('aiSdkChat', definition, served)),
    answer: (request, response, access, connection) => overHttp({ request, response, access, chats, connection }, path),
    connect: (socket, access) => overSocket(socket, access, chats),
  }
}
