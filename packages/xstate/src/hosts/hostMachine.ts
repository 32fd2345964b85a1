import { z } from 'zod'
import { isAgentId } from '../../../../src/protocol/ids.ts'
import { optionsCheck } from '../../../../src/protocol/checks/optionsCheck.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { AgentRuntime } from '../../../../src/runtime/agentRuntime.ts'
import { defineHost, isHostDefinition } from './defineHost.ts'
import { openHost } from './openHost.ts'
import type { AnyMachine, HostDefinition, Hosted, HostOptions } from './hostTypes.ts'

/** Maximum length of a machine's id, which is a prefix of its agents' ids. */
const longestId = 100

const check = optionsCheck(
  {
    id: () =>
      z.string().refine((id) => isAgentId(id) && id.length <= longestId, {
        error: `use 1 to ${longestId} letters, digits, ".", "_" or "-", starting with a letter or digit`,
      }),
  },
  { input: () => z.unknown(), wait: () => z.number().nonnegative(), takeOver: () => z.boolean() },
)

/**
 * Keeps a machine of your own in the store of a runtime: begins it, or continues from its log. Every event, end of an
 * effect and delay is recorded before it counts, so that the machine continues after a crash, here or in another
 * process. For an id that is already open here, returns the open machine. It is closed with the runtime.
 *
 * Rejects with `INVALID_OPTION`, `MACHINE_REFUSED` (it cannot be kept, or does not begin with the input),
 * `MACHINE_CHANGED` (the log is of another version, without `migrate`), `MACHINE_IMPURE`, `AGENT_EXISTS` (the id is an
 * agent's), `AGENT_ELSEWHERE`, `STORE_LOCKED`, `RUNTIME_CLOSED`, and as the store does.
 *
 * @example
 * ```ts
 * import { createMachine } from 'xstate'
 * import { hostMachine } from 'escapement/xstate'
 *
 * const order = createMachine({ id: 'order', initial: 'open', states: { open: { on: { pay: 'paid' } }, paid: { type: 'final' } } })
 * const hosted = await hostMachine(runtime, order, { id: 'order-17' })
 * await hosted.send({ type: 'pay' }, { requestId: 'webhook-81' })
 * await hosted.done
 * ```
 */
export async function hostMachine<M extends AnyMachine>(
  runtime: AgentRuntime,
  machine: M | HostDefinition<M>,
  options: HostOptions,
): Promise<Hosted<M>> {
  const wrong = check(options)
  if (wrong !== undefined) throw new RuntimeError('INVALID_OPTION', `hostMachine: ${wrong}.`)
  const host = await openHost(runtime, isHostDefinition(machine) ? machine : defineHost({ machine }), options)
  host.attend()
  return host as unknown as Hosted<M>
}
