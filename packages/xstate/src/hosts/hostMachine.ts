import { z } from 'zod'
import { isAgentId } from '../../../../src/protocol/ids.ts'
import { optionsCheck } from '../../../../src/protocol/checks/optionsCheck.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { inTurn } from '../../../../src/actors/timing/inTurn.ts'
import type { AgentRuntime } from '../../../../src/runtime/agentRuntime.ts'
import { LocalRuntime } from '../../../../src/runtime/runtime.ts'
import { defineHost, isHostDefinition, preparedMachine } from './defineHost.ts'
import { readPast } from './hostPast.ts'
import type { AnyMachine, HostDefinition, Hosted, HostOptions } from './hostTypes.ts'
import { FinishedHost } from './finishedHost.ts'
import { MachineHost } from './machineHost.ts'
import { hostsIn } from './registry.ts'

/** Longest id: those of its agents begin with it. */
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
 * Keeps a machine of your own in the store of a runtime: begins it, or goes on from its log. Every event, the end of every effect and every delay is
 * recorded before it counts, so it goes on after a crash where it was, here or in another process. An id that is open here already is handed out.
 * It is closed with the runtime.
 *
 * Rejects with `INVALID_OPTION`, `MACHINE_REFUSED` (it cannot be kept, or does not begin with the input), `MACHINE_CHANGED` (the log is of another
 * version, without `migrate`), `MACHINE_IMPURE`, `AGENT_EXISTS` (the id is an agent's), `AGENT_ELSEWHERE`, `STORE_LOCKED`, `RUNTIME_CLOSED`, and as
 * the store does.
 *
 * @example
 * ```ts
 * const hosted = await hostMachine(runtime, order, { id: 'order-17', input: { cents: 1_900 } })
 * await hosted.send({ type: 'paid' }, { requestId: 'webhook-81' })
 * const output = await hosted.done
 * ```
 */
export async function hostMachine<M extends AnyMachine>(
  runtime: AgentRuntime,
  machine: M | HostDefinition<M>,
  options: HostOptions,
): Promise<Hosted<M>> {
  if (!(runtime instanceof LocalRuntime))
    throw new RuntimeError('INVALID_OPTION', 'hostMachine: give the runtime that createRuntime returned.')
  const wrong = check(options)
  if (wrong !== undefined) throw new RuntimeError('INVALID_OPTION', `hostMachine: ${wrong}.`)
  runtime.checkOpen()
  const definition = isHostDefinition(machine) ? machine : defineHost<M>({ machine })
  const host = await inTurn(runtime, `host ${options.id}`, () => openHost(runtime, definition, options))
  return host as unknown as Hosted<M>
}

async function openHost(
  runtime: LocalRuntime,
  definition: HostDefinition,
  { id: hostId, input, wait, takeOver }: HostOptions,
): Promise<MachineHost | FinishedHost> {
  const hosts = hostsIn(runtime)
  const open = hosts.get(hostId)
  if (open instanceof MachineHost) {
    if (open.name === definition.name) return open
    throw new RuntimeError(
      'MACHINE_CHANGED',
      `"${hostId}" is open here, and is machine "${open.name}", not "${definition.name}".`,
    )
  }
  const { name, rules } = definition
  const kept = { hostId, name, machine: preparedMachine(definition, runtime) }
  const lease = await runtime.openLog(hostId, undefined, { wait, takeOver })
  try {
    const past = await readPast(runtime.shared.store, hostId)
    if (past?.done !== undefined) {
      await lease.release()
      return new FinishedHost(kept, rules, past)
    }
    const leave = (): void => {
      hosts.delete(hostId)
      runtime.closed(host)
    }
    const host = new MachineHost({ runtime, kept, rules, lease, leave }, past)
    hosts.set(hostId, host)
    if (past === undefined) await host.begin(input)
    else await host.goOn(past)
    if (!runtime.closeFirst(host)) {
      await host.close()
      runtime.checkOpen()
    }
    return host
  } catch (thrown) {
    hosts.delete(hostId)
    await lease.release()
    throw thrown
  }
}
