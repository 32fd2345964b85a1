// XState names the state of an actor so.
/* oxlint-disable no-underscore-dangle */
import { type AnyStateMachine, createActor } from 'xstate'
import { messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import type { RecordOf } from '../../../../src/protocol/records.ts'
import { isObject } from '../../../../src/protocol/checks/isObject.ts'
import { inStep } from './naming.ts'
import { agentsIn, keep, printOf, type Actor, type KeptState, type MachineState } from './machineState.ts'
import type { AnyMachine } from './hostTypes.ts'
import { asJson } from './plainJson.ts'

/** A record that gives a machine, or a child of it, an event. */
export type InputRecord = RecordOf<'host.event'> | RecordOf<'host.effect.end'>

/** A machine with the names under which it is kept. */
export interface KeptMachine {
  readonly hostId: string
  readonly name: string
  readonly machine: AnyMachine
}

const doneType = 'xstate.done.actor.'
const errorType = 'xstate.error.actor.'

/** Returns the event that a record gives to the machine; `undefined` if the record is for a child. */
export function eventIn(record: InputRecord): { readonly type: string } | undefined {
  if (record.type === 'host.event') return record.to === undefined ? record.event : undefined
  const { actor: actorId, output, error } = record
  return error === undefined
    ? ({ type: `${doneType}${actorId}`, output, actorId } as { type: string })
    : ({ type: `${errorType}${actorId}`, error, actorId } as { type: string })
}

/** Returns the id of the child whose end the event reports; `undefined` for any other event. */
export const endedBy = ({ type }: { readonly type: string }): string | undefined =>
  [doneType, errorType].flatMap((start) => (type.startsWith(start) ? [type.slice(start.length)] : []))[0]

/** Unstarted actor of a machine. The machine's own copy of XState calculates its states, and nothing runs. */
interface Inert {
  readonly id: string
  readonly sessionId: string
  readonly system: object
  getSnapshot(): MachineState
}

/** Returns an unstarted actor of a machine from any copy of XState. */
const inert = (machine: AnyMachine, options: object): Inert =>
  createActor(machine as unknown as AnyStateMachine, options) as Inert

/** A machine whose transitions are only calculated. No action is carried out, and no child starts. */
export class Replica {
  readonly #kept: KeptMachine
  readonly #actor: Inert
  #state: MachineState

  private constructor(kept: KeptMachine, actor: Inert) {
    this.#kept = kept
    this.#actor = actor
    this.#state = actor.getSnapshot()
  }

  /** Begins a machine. `seq`: of its first record. */
  static begun(kept: KeptMachine, seq: number, input: unknown): Replica {
    const { hostId, machine } = kept
    const actor = inStep({ hostId, seq, agents: 0 }, () => inert(machine, { input, id: hostId }))
    return new Replica(kept, actor)
  }

  /** Continues from a kept state. @throws RuntimeError `MACHINE_CHANGED` if the machine lacks a state or an actor */
  static from(kept: KeptMachine, snapshot: KeptState): Replica {
    checkActors(kept, snapshot)
    const actor = inert(kept.machine, { snapshot: asJson(snapshot), id: kept.hostId })
    const state = actor.getSnapshot()
    if (snapshot.status !== 'error' && state.status === 'error') throw changed(kept, messageOf(state.error))
    return new Replica(kept, actor)
  }

  /** The machine's actor, which never starts. */
  get actor(): unknown {
    return this.#actor
  }

  get state(): MachineState {
    return this.#state
  }

  get print(): string {
    return printOf(this.#kept.machine, this.#state)
  }

  /** Returns the state in its persisted form. */
  keep(): KeptState {
    return asJson(keep(this.#kept.machine, this.#state))
  }

  /** Marks the machine as failed by an action, since actions are not carried out here. */
  fail(): void {
    if (this.#state.status === 'error') return
    const error = new Error('one of its actions threw an error')
    this.#state = { ...this.#state, status: 'error', error }
  }

  /** Takes the event of a record. An error in a guard or an action becomes a state. */
  take(record: InputRecord): void {
    const event = eventIn(record)
    if (event === undefined || this.#state.status !== 'active' || this.#isLate(record)) return
    const ended = record.type === 'host.effect.end' || record.from !== undefined ? endedBy(event) : undefined
    if (ended !== undefined) this.#end(this.#state.children[ended], event)
    const { hostId, machine } = this.#kept
    const step = { hostId, seq: record.seq, agents: agentsIn(this.#state) }
    try {
      this.#state = inStep(step, () => machine.transition(this.#state, event, this.#scope)) as MachineState
    } catch (error) {
      this.#state = { ...this.#state, status: 'error', error }
    }
  }

  /** True for the end of an effect whose actor has already been stopped. */
  #isLate(record: InputRecord): boolean {
    return record.type === 'host.effect.end' && this.#state.children[record.actor]?.getSnapshot().key !== record.key
  }

  /** Notes that a child has ended, so that it does not start again. */
  #end(child: Actor | undefined, event: object): void {
    if (child === undefined) return
    const { output, error } = event as { readonly output?: unknown; readonly error?: unknown }
    child._snapshot = Object.assign({}, child._snapshot, {
      status: error === undefined ? 'done' : 'error',
      output,
      error,
    })
  }

  get #scope(): object {
    const { id, sessionId, system } = this.#actor
    const nothing = (): void => {}
    const logger = nothing
    return {
      self: this.#actor,
      id,
      sessionId,
      system,
      logger,
      defer: nothing,
      stopChild: nothing,
      emit: nothing,
      actionExecutor: nothing,
    }
  }
}

/** Throws if the logic of an actor is missing, because XState would drop the actor silently. */
function checkActors(kept: KeptMachine, { children }: KeptState): void {
  const { actors } = kept.machine.implementations
  for (const [id, { src }] of Object.entries(children ?? {})) {
    const isNamed = typeof src === 'string' && (src.startsWith('xstate.invoke.') || isObject(actors[src]))
    if (!isNamed) throw changed(kept, `it has no actor "${String(src)}", which "${id}" is`)
  }
}

const changed = ({ name, hostId }: KeptMachine, why: string): RuntimeError =>
  new RuntimeError('MACHINE_CHANGED', `The state of "${hostId}" does not fit machine "${name}": ${why}.`)
