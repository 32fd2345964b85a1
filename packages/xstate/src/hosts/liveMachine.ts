// XState names the parts of its actors and systems so.
/* oxlint-disable no-underscore-dangle */
import { type AnyStateMachine, createActor } from 'xstate'
import { EffectEnded, type EffectActor, type EffectEnd } from './durable.ts'
import type { Actor, MachineState } from './machineState.ts'
import type { KeptMachine } from './replica.ts'
import { endedBy } from './replica.ts'
import { asJson } from './plainJson.ts'

type Event = { readonly type: string }

/** A delayed event that a machine begins. */
export interface Scheduled {
  /** Missing if the machine gave none. */
  readonly id: string | undefined
  readonly event: Event
  /** The child that gets it. */
  readonly to: string | undefined
  readonly delay: number
}

/** Where the events of a live machine come from, and where its delayed ones go. */
export interface Surroundings {
  /** An event for the machine that nobody gave it by `give`; `source`: the child that sent it. */
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
 * A machine that runs on XState's interpreter, except that what it is given comes one by one from its host: `_relay` of its system is the one way of
 * all events, and the scheduler that of delayed ones.
 */
export class LiveMachine {
  readonly #actor: LiveActor
  readonly #relay: System['_relay']
  /** The actor whose event is let through, as its record has been taken. */
  #passing: object | undefined
  /** Children whose end was taken from the log: they may come to it again. */
  readonly #ended = new WeakSet<object>()

  /** `given`: the input of a new machine, or the state that one goes on from. */
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

  /** Starts it and its children. Throws nothing: errors are states. */
  start(): void {
    this.#actor.start()
  }

  /** Gives it an event of its log, or, with `to`, a child of it. */
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

  /** Ends the actor of an effect, which tells the machine. Nothing happens if it has been stopped. */
  end(actor: EffectActor, end: EffectEnd): void {
    if (actor.getSnapshot().status !== 'active') return
    this.#passing = actor
    try {
      actor._send(new EffectEnded(end))
    } finally {
      this.#passing = undefined
    }
  }

  /** Stops it with its children. */
  stop(): void {
    this.#actor.stop()
  }

  #childId(ref: Actor): string | undefined {
    return Object.entries(this.state.children).find(([, child]) => child === ref)?.[0]
  }
}
