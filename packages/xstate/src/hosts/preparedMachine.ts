import type { AgentRuntime } from '../../../../src/runtime/agentRuntime.ts'
import { kindOf } from './actorKinds.ts'
import { durable, type PromiseLogic } from './durable.ts'
import type { AnyMachine, HostDefinition } from './hostTypes.ts'
import { refused, whyNotMachine } from './machineState.ts'

/**
 * Returns the machine of a definition, with the plain promises that its rules name as durable effects.
 * @throws RuntimeError `MACHINE_REFUSED`, `INVALID_OPTION`
 */
export function preparedMachine({ name, rules, machine: make }: HostDefinition, runtime: AgentRuntime): AnyMachine {
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
