import { type ErrorInfo, RuntimeError } from '../../../../src/protocol/errors.ts'
import { TextHash } from '../../../../src/protocol/text/textHash.ts'
import { kindOf } from './actorKinds.ts'
import { effectError } from './durable.ts'
import type { AnyMachine } from './hostTypes.ts'
import { isObject } from '../../../../src/protocol/checks/isObject.ts'
import { asJson, notJson } from './plainJson.ts'

/** Snapshot of a child. */
interface ChildSnapshot {
  readonly status: string
  readonly key?: string
  readonly agentId?: string
}

/** An actor from any copy of XState. */
export interface Actor {
  readonly id: string
  readonly sessionId: string
  readonly src: unknown
  readonly logic: unknown
  _snapshot: ChildSnapshot
  getSnapshot(): ChildSnapshot
}

/** State of a machine from any copy of XState. */
export interface MachineState {
  readonly status: 'active' | 'done' | 'error' | 'stopped'
  readonly value: unknown
  readonly output?: unknown
  readonly error?: unknown
  readonly context: unknown
  readonly children: { readonly [id: string]: Actor }
}

/** Persisted state of a machine, as XState writes it. */
export interface KeptState {
  readonly [field: string]: unknown
  readonly value: unknown
  readonly context: unknown
  readonly children: { readonly [id: string]: { readonly src: unknown } }
  readonly status: string
}

/** Maximum number of bytes of a kept state, as JSON. */
const mostBytes = 1_048_576

/** Returns the persisted form of a state. */
export function keep(machine: AnyMachine, state: MachineState): KeptState {
  const logic = machine as unknown as { getPersistedSnapshot(state: MachineState): KeptState }
  return logic.getPersistedSnapshot(state)
}

/** Fingerprint of every failed state of a machine. An action may have thrown, which a replay does not repeat. */
export const failedPrint = 'failed'

/** Returns a fingerprint of a state, equal for equal state values, active children and contexts. */
export function printOf(machine: AnyMachine, state: MachineState): string {
  if (state.status === 'error') return failedPrint
  const { value, context, status, historyValue, children } = keep(machine, state)
  const ids = Object.entries(children).map(([id, { src }]) => [id, src])
  return new TextHash().addJson(asJson({ value, context, status, historyValue, ids })).value
}

/** Returns the number of agents at work in a state. */
export const agentsIn = (state: MachineState): number =>
  Object.values(state.children).filter(
    (child) => kindOf(child.logic) === 'agent' && child.getSnapshot().status === 'active',
  ).length

/** Returns the reason why a state cannot be kept; `undefined` if it can. */
export function whyNotKept(machine: AnyMachine, state: MachineState): string | undefined {
  for (const child of Object.values(state.children)) {
    const wrong = whyNotChild(child)
    if (wrong !== undefined) return wrong
  }
  const { context } = keep(machine, state)
  const wrong = notJson(context, 'context')
  return wrong === undefined ? undefined : `Its context must be JSON, but ${wrong}`
}

function whyNotChild({ id, sessionId, src, logic }: Actor): string | undefined {
  if (id === sessionId)
    return `It spawned ${nameOf(src)} without an id, which would be another one after a restart: give { id }`
  if (typeof src !== 'string')
    return `Its actor "${id}" was spawned from a logic that has no name: name it in setup({ actors })`
  return whyNotLogic(logic, `Its actor "${id}" (${nameOf(src)})`)
}

const nameOf = (src: unknown): string => (typeof src === 'string' ? `"${src}"` : 'an actor')

/** Returns the reason why an actor with this logic cannot be kept; `who` begins the sentence. */
export function whyNotLogic(logic: unknown, who: string): string | undefined {
  switch (kindOf(logic)) {
    case 'machine':
      return `${who} is a machine: host it by an id of its own, and send it events`
    case 'promise':
      return `${who} is a plain promise, whose effect after a crash is unknown: make it durable(…), or name it in effects`
    default:
      return undefined
  }
}

/** Returns the JSON of a state for the log, of at most 1 MB. @throws RuntimeError `MACHINE_REFUSED` */
export function keptJson(name: string, machine: AnyMachine, state: MachineState): KeptState {
  const kept = keep(machine, state)
  const wrong = notJson(kept, 'its state')
  if (wrong !== undefined) throw refused(name, `${wrong[0]!.toUpperCase()}${wrong.slice(1)}, which JSON has not`)
  const text = JSON.stringify(kept)
  const bytes = Buffer.byteLength(text)
  if (bytes > mostBytes) throw refused(name, `Its state has ${bytes} bytes, more than the ${mostBytes} that are kept`)
  return JSON.parse(text) as KeptState
}

/** Returns the end of a machine, as its log records it. */
export function endOf({ status, output, error }: MachineState): {
  readonly output: unknown
  readonly error?: ErrorInfo
} {
  if (status === 'error') return { output: undefined, error: effectError(error) }
  const wrong = notJson(output, 'output')
  if (wrong === undefined) return { output: asJson(output) }
  return { output: undefined, error: { code: 'MACHINE_REFUSED', message: `Its output must be JSON, but ${wrong}.` } }
}

/** Returns the error for a machine that cannot be kept. */
export const refused = (name: string, why: string): RuntimeError =>
  new RuntimeError('MACHINE_REFUSED', `Machine "${name}" cannot be kept. ${why}.`)

/** Returns the reasons why actors named by a machine, in `setup` or at an `invoke`, cannot be kept; `undefined` if all can. */
export function whyNotMachine(machine: AnyMachine): string | undefined {
  for (const [name, logic] of Object.entries(machine.implementations.actors)) {
    const wrong = whyNotLogic(logic, `Its actor "${name}"`)
    if (wrong !== undefined) return wrong
  }
  return whyNotInvoked(machine.config, '')
}

/** Searches the configuration of a state and the states below it for actor logic given inline at an `invoke`. */
function whyNotInvoked(config: unknown, path: string): string | undefined {
  if (!isObject(config)) return undefined
  const invoked = 'invoke' in config ? [config.invoke].flat() : []
  for (const one of invoked) {
    const wrong =
      isObject(one) && 'src' in one ? whyNotLogic(one.src, `The actor that "${path || 'the root'}" invokes`) : undefined
    if (wrong !== undefined) return wrong
  }
  const states = 'states' in config && isObject(config.states) ? Object.entries(config.states) : []
  for (const [name, state] of states) {
    const wrong = whyNotInvoked(state, path === '' ? name : `${path}.${name}`)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

/** Returns the error of a machine that has failed. */
export const failed = (hostId: string, why: string): RuntimeError =>
  new RuntimeError('MACHINE_FAILED', `Machine "${hostId}" failed: ${why}.`)
