import { z } from 'zod'
import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import { checkedBy } from '../../../src/protocol/errors.ts'
import type { Endpoint } from '../../bridge/src/server/endpoint.ts'
import { mustBeServed } from '../../bridge/src/server/oneDefinition.ts'
import { openRun } from './openRun.ts'
import { overHttp } from './overHttp.ts'
import { overSocket } from './overSocket.ts'
import type { Rules } from './threads.ts'

export interface AgUiOptions {
  /**
   * Name of the definition of every thread's agent: other agents are refused, and `serve` refuses a name that it does not serve.
   * Default: a new thread is of `forwardedProps.definition`, or the first one served, and any agent within reach is a thread.
   */
  readonly definition?: string
  /**
   * `true`: a client that closes the connection of its run aborts it, unless others follow it. For a server in between, such as the runtime of CopilotKit,
   * whose "Stop" is no more than that. Default `false`: pages that leave are loaded again.
   */
  readonly abortOnLeave?: boolean
}

const optionsSchema = onlyFields({
  definition: z.string().min(1).optional(),
  abortOnLeave: z.boolean().optional(),
})

/**
 * Serves agents to AG-UI front ends at `/ag-ui`, as server-sent events and over a WebSocket: a thread is a root agent. Give it to
 * `runtime.serve` in `endpoints`; the same `agUi()` to one server only. Below that path it answers what clients of CopilotKit ask its runtime.
 *
 * @throws RuntimeError `INVALID_OPTION`
 */
export function agUi(options: AgUiOptions = {}): Endpoint {
  const { definition, abortOnLeave = false } = checkedBy(optionsSchema, options, 'agUi')
  const rules: Rules = { threads: new WeakMap(), definition }
  return {
    path: '/ag-ui',
    below: true,
    check: (served) => (definition === undefined ? undefined : mustBeServed('agUi', definition, served)),
    answer: (request, response, access, connection) =>
      overHttp(
        {
          request,
          response,
          access,
          connection,
          rules,
          open: (input, asked) => openRun(access, input, asked),
          abortOnLeave,
        },
        '/ag-ui',
      ),
    connect: (socket, access) =>
      overSocket(socket, access, { open: (input) => openRun(access, input, rules), abortOnLeave }),
  }
}
