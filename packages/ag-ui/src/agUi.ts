import { z } from 'zod'
import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import { describeIssues, RuntimeError } from '../../../src/protocol/errors.ts'
import type { Endpoint } from '../../bridge/src/server/endpoint.ts'
import type { AgentAccess } from '../../bridge/src/server/agentAccess.ts'
import { mustBeServed } from '../../bridge/src/server/oneDefinition.ts'
import { openRun, type OpenRun, type Threads } from './openRun.ts'
import { overHttp } from './overHttp.ts'
import { overSocket } from './overSocket.ts'

export interface AgUiOptions {
  /**
   * Name of the definition that all threads are agents of: others are refused, and `serve` refuses a name that it does not serve. Default: a
   * new thread is of `forwardedProps.definition`, or the first one served, and any agent within reach is a thread.
   */
  readonly definition?: string
}

const optionsSchema = onlyFields({ definition: z.string().min(1).optional() })

/**
 * Serves agents to AG-UI front ends at `/ag-ui`, as server-sent events and over a WebSocket: a thread is a root agent. Give it to
 * `runtime.serve` in `endpoints`; the same `agUi()` to one server only. A client that leaves aborts nothing.
 *
 * @throws RuntimeError `INVALID_OPTION`
 */
export function agUi(options: AgUiOptions = {}): Endpoint {
  const checked = optionsSchema.safeParse(options)
  if (!checked.success) throw new RuntimeError('INVALID_OPTION', `agUi: ${describeIssues(checked.error)}.`)
  const { definition } = checked.data
  const threads: Threads = new WeakMap()
  const openFor =
    (access: AgentAccess): OpenRun =>
    (input) =>
      openRun(access, input, { threads, definition })
  return {
    path: '/ag-ui',
    check: (served) => (definition === undefined ? undefined : mustBeServed('agUi', definition, served)),
    answer: (request, response, access, connection) =>
      overHttp(request, response, access, { open: openFor(access), connection }),
    connect: (socket, access) => overSocket(socket, access, openFor(access)),
  }
}
