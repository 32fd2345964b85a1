import { z } from 'zod'
import { optionsCheck } from '../../../../src/protocol/checks/optionsCheck.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { AgentRuntime } from '../../../../src/runtime/agentRuntime.ts'
import { kindOf } from './actorKinds.ts'
import type { AnyMachine, HostDefinition, HostRules } from './hostTypes.ts'
import { isObject } from '../../../../src/protocol/checks/isObject.ts'
import { openHost, readHost } from './openHost.ts'

/** Options of `defineHost`: a machine, or a function that makes one for the runtime of its agents, and the rules by which it is kept. */
export interface HostConfig<M extends AnyMachine> extends HostRules {
  readonly machine: M | ((runtime: AgentRuntime) => M)
}

const isMachine = (value: unknown): boolean => kindOf(value) === 'machine'
const isFunction = (value: unknown): boolean => typeof value === 'function'

const check = optionsCheck(
  {
    machine: () =>
      z.custom((value) => isMachine(value) || isFunction(value), 'give an XState machine, or a function that makes it'),
  },
  {
    name: () => z.string().min(1).max(200),
    version: () => z.string().min(1).max(200),
    migrate: () => z.custom(isFunction, 'give a function'),
    effects: () => z.record(z.string(), z.enum(['none', 'idempotent', 'irreversible'])),
    refuse: () => z.custom(isFunction, 'give a function'),
  },
)

const definitions = new WeakSet<object>()

/** Returns true for what `defineHost` returned. */
export const isHostDefinition = (value: unknown): value is HostDefinition => isObject(value) && definitions.has(value)

/**
 * A machine with the rules by which it is kept, for `hostMachine`, and for `machines` of `runtime.wake`.
 *
 * @throws RuntimeError `INVALID_OPTION`, also for a function without a `name`
 *
 * @example
 * ```ts
 * import { createMachine } from 'xstate'
 * import { defineHost } from 'escapement/xstate'
 *
 * const egg = createMachine({ id: 'egg', initial: 'soft', states: { soft: { after: { 300_000: 'hard' } }, hard: { type: 'final' } } })
 * const eggs = defineHost({ machine: egg, version: '2', migrate: (snapshot) => snapshot })
 * const waker = runtime.wake({ definitions: [], machines: [eggs] })
 * ```
 */
export function defineHost<M extends AnyMachine>(config: HostConfig<M>): HostDefinition<M> {
  const wrong = check(config)
  if (wrong !== undefined) throw new RuntimeError('INVALID_OPTION', `defineHost: ${wrong}.`)
  const { machine, ...rules } = config
  const make = typeof machine === 'function' && !isMachine(machine) ? machine : () => machine as M
  const name = rules.name ?? (isMachine(machine) ? (machine as M).id : undefined)
  if (name === undefined)
    throw new RuntimeError('INVALID_OPTION', 'defineHost: a function needs a name beside it: give { name, machine }.')
  const definition: HostDefinition<M> = {
    name,
    rules,
    machine: make,
    open: (runtime, id, options) => openHost(runtime, definition, { ...options, id }),
    read: (runtime, id) => readHost(runtime, definition, id),
  }
  definitions.add(definition)
  return definition
}
