import { z } from 'zod'
import { describeIssues, RuntimeError } from '../../protocol/errors.ts'
import { closeCodes } from '../../protocol/frames.ts'
import type { Endpoint } from '../bridge/endpoint.ts'
import { openAcp } from './openAcp.ts'
import { socketStream } from './socketStream.ts'

/** Options of an ACP endpoint. */
export interface AcpOptions {
  /** Name of the definition whose agents `session/new` spawns, unless the client names another. Default: the server's first. */
  readonly definition?: string | undefined
}

const optionsSchema = z.strictObject({ definition: z.string().min(1).optional() })

/**
 * The Agent Client Protocol at `/acp`, for `runtime.serve({ endpoints: [acp()], definitions })`: one ACP connection per WebSocket.
 * A session is a root agent and its id is the agent's; a socket that closes ends no agent.
 *
 * @throws RuntimeError `INVALID_OPTION`
 */
export function acp(options: AcpOptions = {}): Endpoint {
  const checked = optionsSchema.safeParse(options)
  if (!checked.success) throw new RuntimeError('INVALID_OPTION', `acp: ${describeIssues(checked.error)}.`)
  const { definition } = checked.data
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
