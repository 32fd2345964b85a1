// XState names the parts of its actors and systems so.
/* oxlint-disable no-underscore-dangle */
import { type AnyStateMachine, createActor } from 'xstate'
import { EffectEnded, type EffectActor, type EffectEnd } from './durable.ts'
import type { Actor, MachineState } from './machineState.ts'
import type { KeptMachine } from './replica.ts'
import { endedBy } from './replica.ts'
import { asJson } from './plainJson.ts'

type Event = { readonly type: string }

/** A delayed event that a machine has scheduled. */
export interface Scheduled {
  /** Id of the delayed event; missing if the machine gave none. */
  readonly id: string | undefined
  readonly event: Event
  /** Id of the child that receives the event. */
  readonly to: string | undefined
  readonly delay: number
}

/** Source of a live machine's events, and target of its delayed ones. */
export interface Surroundings {
  /** Takes an event for the machine that did not come by `give`. `source`: the child that sent it. */
  arrived(event: Event, source: { readonly id: string } | undefined): void
  scheduled(timer: Scheduled): void
  cancelled(id: string): void
}

interface LiveActor extends Actor {
  readonly system: System
  getSnapshot(): MachineState & { readonly status: 'active' | 'done' | 'error' | 'stopped' }
  subscribe(observer: object): void
  start(): void
  stop(): void
}

interface System {
  _relay(source: Actor | undefined, target: Actor, event: Event): void
  scheduler: {
    schedule(source: Actor, target: Actor, event: Event, delay: number, id?: string): void
    cancel(source: Actor, id: string): void
    cancelAll(source: Actor): void
  }
}

/**
 * A machine on XState's interpreter that receives its events one by one from its host. It intercepts
 * `_relay` of its system, through which all events pass, and the scheduler of delayed ones.
 */
export class LiveMachine {
  readonly #actor: LiveActor
  readonly #relay: System['_relay']
  /** Actor whose event is let through, because its record has been taken. */
  #passing: object | undefined
  /** Children whose end was taken from the log. Their end may arrive again. */
  readonly #ended = new WeakSet<object>()

  /** `given`: the input of a new machine, or the state from which a machine continues. */
  constructor(
    { machine, hostId }: KeptMachine,
    given: { readonly input?: unknown; readonly snapshot?: object },
    around: Surroundings,
  ) {
    const options = given.snapshot === undefined ? { input: given.input } : { snapshot: asJson(given.snapshot) }
    const actor = createActor(
      machine as unknown as AnyStateMachine,
      { ...options, id: hostId } as object,
    ) as unknown as LiveActor
    const { system } = actor
    this.#actor = actor
    this.#relay = system._relay
    system._relay = (source, target, event) => {
      if (target !== actor || (source !== undefined && source === this.#passing))
        return this.#relay(source, target, event)
      if (source === undefined || !this.#ended.has(source) || endedBy(event) === undefined)
        around.arrived(event, source)
    }
    const others = system.scheduler
    system.scheduler = {
      schedule: (source, target, event, delay, id) => {
        const to = target === actor ? undefined : this.#childId(target)
        if (source !== actor || (target !== actor && to === undefined))
          others.schedule(source, target, event, delay, id)
        else around.scheduled({ id, event, to, delay })
      },
      cancel: (source, id) => (source === actor ? around.cancelled(id) : others.cancel(source, id)),
      cancelAll: (source) => {
        if (source !== actor) others.cancelAll(source)
      },
    }
    // Without an observer an error of the machine would end the process.
    actor.subscribe({ error: () => {} })
  }

  get actor(): unknown {
    return this.#actor
  }

  get system(): object {
    return this.#actor.system
  }

  get state(): MachineState {
    return this.#actor.getSnapshot()
  }

  /** Starts the machine and its children. Never throws: errors become states. */
  start(): void {
    this.#actor.start()
  }

  /** Gives an event of the log to the machine or, with `to`, to one of its children. */
  give(event: Event, { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined }): void {
    const { children } = this.state
    if (to !== undefined) {
      const child = children[to]
      if (child !== undefined) this.#relay(this.#actor, child, event)
      return
    }
    const source = from === undefined ? undefined : children[from]
    const ended = from === undefined ? undefined : endedBy(event)
    if (ended !== undefined && source !== undefined && source.getSnapshot().status === 'active') this.#ended.add(source)
    this.#relay(source, this.#actor, event)
  }

  /** Ends the actor of an effect, which informs the machine. Does nothing if the actor was stopped. */
  end(actor: EffectActor, end: EffectEnd): void {
    if (actor.getSnapshot().status !== 'active') return
    this.#passing = actor
    try {
      actor._send(new EffectEnded(end))
    } finally {
      this.#passing = undefined
    }
  }

  /** Stops the machine with its children. */
  stop(): void {
    this.#actor.stop()
  }

  #childId(ref: Actor): string | undefined {
    return Object.entries(this.state.children).find(([, child]) => child === ref)?.[0]
  }
}
