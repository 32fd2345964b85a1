import { inTurn } from '../../../../src/actors/timing/inTurn.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { LocalRuntime } from '../../../../src/runtime/runtime.ts'
import { StoredHost } from './storedHost.ts'
import { readPast } from './hostPast.ts'
import type { HostDefinition, HostOptions, AnyMachine } from './hostTypes.ts'
import { MachineHost } from './machineHost.ts'
import { hostingOf, noteEnd } from './registry.ts'
import type { AgentRuntime } from '../../../../src/runtime/agentRuntime.ts'
import { kindOf } from './actorKinds.ts'
import { durable, type PromiseLogic } from './durable.ts'
import { refused, whyNotMachine } from './machineState.ts'

/**
 * Returns the machine of a definition, with the plain promises that its rules name as durable effects.
 * @throws RuntimeError `MACHINE_REFUSED`, `INVALID_OPTION`
 */
function preparedMachine({ name, rules, machine: make }: HostDefinition, runtime: AgentRuntime): AnyMachine {
  const given = make(runtime)
  if (kindOf(given) !== 'machine') throw refused(name, 'Its function returned no XState machine')
  const named = Object.entries(rules.effects ?? {}).map(([actor, effects]) => {
    const logic = given.implementations.actors[actor]
    if (kindOf(logic) !== 'promise')
      throw refused(name, `effects names "${actor}", which is no plain promise of its setup`)
    return [actor, durable(logic as PromiseLogic<unknown, unknown>, { effects })] as const
  })
  const machine = named.length === 0 ? given : (given.provide({ actors: Object.fromEntries(named) }) as AnyMachine)
  const why = whyNotMachine(machine)
  if (why !== undefined) throw refused(name, why)
  return machine
}

/** Opens a machine, or returns the one that is open. Rejects as `hostMachine` does. */
export async function openHost(
  runtime: object,
  definition: HostDefinition,
  options: HostOptions,
): Promise<MachineHost | StoredHost> {
  checkRuntime(runtime)
  hostingOf(runtime).offered.set(definition.name, definition)
  return await inTurn(runtime, `host ${options.id}`, () => openAlone(runtime, definition, options))
}

/** Reads a machine from its log. Rejects as `hostMachine` does, and with `MACHINE_NOT_FOUND`. */
export async function readHost(runtime: object, definition: HostDefinition, hostId: string): Promise<StoredHost> {
  checkRuntime(runtime)
  const { name, rules } = definition
  const kept = { hostId, name, machine: preparedMachine(definition, runtime) }
  const past = await readPast(runtime.shared.store, hostId)
  if (past !== undefined) return new StoredHost(kept, rules, past)
  throw new RuntimeError('MACHINE_NOT_FOUND', `There is no machine "${hostId}" in this store.`)
}

function checkRuntime(runtime: object): asserts runtime is LocalRuntime {
  if (!(runtime instanceof LocalRuntime))
    throw new RuntimeError('INVALID_OPTION', 'hostMachine: give the runtime that createRuntime returned.')
  runtime.checkOpen()
}

async function openAlone(
  runtime: LocalRuntime,
  definition: HostDefinition,
  { id: hostId, ...options }: HostOptions,
): Promise<MachineHost | StoredHost> {
  const hosting = hostingOf(runtime)
  const { open: hosts } = hosting
  const open = hosts.get(hostId)
  if (open instanceof MachineHost) {
    const { ending } = open
    if (ending !== undefined) {
      await ending
      return openAlone(runtime, definition, { id: hostId, ...options })
    }
    if (open.name === definition.name) return open
    throw new RuntimeError(
      'MACHINE_CHANGED',
      `"${hostId}" is open here, and is machine "${open.name}", not "${definition.name}".`,
    )
  }
  const { input, wait, takeOver } = options
  const { name, rules } = definition
  const kept = { hostId, name, machine: preparedMachine(definition, runtime) }
  const lease = await runtime.openLog(hostId, undefined, { wait, takeOver })
  try {
    const past = await readPast(runtime.shared.store, hostId)
    if (past?.done !== undefined) {
      await lease.release()
      return new StoredHost(kept, rules, past)
    }
    const leave = (): void => {
      hosts.delete(hostId)
      noteEnd(hosting, host)
      runtime.closed(host)
    }
    const host = new MachineHost({ runtime, kept, rules, lease, takesOver: takeOver === true, leave }, past)
    hosts.set(hostId, host)
    hosting.ended.delete(hostId)
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
