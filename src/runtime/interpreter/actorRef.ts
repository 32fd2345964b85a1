// XState marks its internal members with an underscore.
/* oxlint-disable no-underscore-dangle */
import type { AnyActorLogic, Snapshot, Subscription, AnyActorRef, InspectionEvent } from 'xstate'

export interface ActorOptions {
  readonly id: string
  readonly src?: string
  readonly systemId?: string
  readonly parent?: ActorRef
  readonly input: unknown
}

interface Observer {
  next?(snapshot: Snapshot<unknown>): void
  error?(error: unknown): void
  complete?(): void
}

const nobody: readonly never[] = Object.freeze([])

/** Rethrows an observer's exception as an uncaught error. As in XState, it does not stop the other observers. */
function report(thrown: unknown): void {
  queueMicrotask(() => {
    throw thrown
  })
}

/** A small replacement for XState's `Actor`: with ten thousand idle agents, each must cost very little memory. */
export abstract class ActorRef<S extends Snapshot<unknown> = Snapshot<unknown>> {
  readonly logic: AnyActorLogic
  readonly id: string
  readonly src: unknown
  readonly system: ActorSystem
  readonly systemId: string | undefined
  readonly _parent: ActorRef | undefined
  /** Status in XState's numbering: 0 not started, 1 running, 2 stopped. */
  _processingStatus: 0 | 1 | 2 = 0
  protected snapshot!: S
  #sessionId: string | undefined
  #observers: readonly Observer[] = nobody

  constructor(logic: AnyActorLogic, { id, src, systemId, parent }: ActorOptions) {
    this.logic = logic
    this.id = id
    this.src = src ?? logic
    this.systemId = systemId
    this._parent = parent
    this.system = parent === undefined ? new ActorSystem(this) : parent.system
  }

  abstract start(): this
  abstract _send(event: { readonly type: string }): void
  abstract _stop(): this

  /** Id of the actor, unique in its system. */
  get sessionId(): string {
    return (this.#sessionId ??= this.system._bookId())
  }

  get ref(): this {
    return this
  }

  getSnapshot(): S {
    return this.snapshot
  }

  getPersistedSnapshot(options?: unknown): Snapshot<unknown> {
    return this.logic.getPersistedSnapshot(this.snapshot, options)
  }

  toJSON(): object {
    return { xstate$$type: 1, id: this.id }
  }

  send(event: { readonly type: string }): void {
    this.system._relay(undefined, this, event)
  }

  stop(): this {
    if (this._parent !== undefined) throw new Error('A non-root actor cannot be stopped directly.')
    return this._stop()
  }

  subscribe(given: Observer | ((snapshot: Snapshot<unknown>) => void)): Subscription {
    const observer = typeof given === 'function' ? { next: given } : given
    const { status, error } = this.snapshot
    if (this._processingStatus !== 2) this.#observers = this.#observers.concat(observer)
    else if (status === 'error') observer.error?.(error)
    else if (status === 'done') observer.complete?.()
    return { unsubscribe: () => (this.#observers = this.#observers.filter((other) => other !== observer)) }
  }

  /** Does nothing: these actors emit no events. */
  on(): Subscription {
    return { unsubscribe: () => {} }
  }

  protected tell(): void {
    for (const observer of this.#observers) {
      try {
        observer.next?.(this.snapshot)
      } catch (thrown) {
        report(thrown)
      }
    }
  }

  /** Notifies observers of the end, and also the parent unless the actor was stopped. */
  protected tellEnd(): void {
    const { status, output, error } = this.snapshot
    const observers = this.#observers
    this.#observers = nobody
    const isHeard = this._parent !== undefined || observers.length > 0
    if (status === 'error' && (!isHeard || observers.some((observer) => observer.error === undefined))) report(error)
    for (const observer of observers) {
      try {
        if (status === 'error') observer.error?.(error)
        else observer.complete?.()
      } catch (thrown) {
        report(thrown)
      }
    }
    if (this._parent === undefined || status === 'stopped') return
    const actorId = this.id
    if (status === 'error')
      this.system._relay(this, this._parent, { type: `xstate.error.actor.${actorId}`, error, actorId } as never)
    else this.system._relay(this, this._parent, { type: `xstate.done.actor.${actorId}`, output, actorId } as never)
  }
}

type Inspector = (event: InspectionEvent) => void
type WithoutRoot<E> = E extends unknown ? Omit<E, 'rootId'> : never

interface Member {
  readonly systemId?: string | undefined
  _send(event: { readonly type: string }): void
}

/** A small replacement for XState's actor system. Every root agent has one, so it must cost little memory. */
export class ActorSystem {
  readonly #root: Member & { readonly id: string; readonly sessionId: string }
  #booked = 0
  /** Actors by system id, except the root. Most systems have no other. */
  #named: Map<string, Member> | undefined
  #isRootNamed = false
  #inspectors: Set<Inspector> | undefined

  constructor(root: Member & { readonly id: string; readonly sessionId: string }) {
    this.#root = root
  }

  /** True if an inspector is, or ever was, attached. */
  get isInspected(): boolean {
    return this.#inspectors !== undefined
  }

  inspect(observer: Inspector | { next?(event: InspectionEvent): void }): Subscription {
    const inspector: Inspector = (event) => (typeof observer === 'function' ? observer(event) : observer.next?.(event))
    this.#inspectors ??= new Set()
    this.#inspectors.add(inspector)
    return { unsubscribe: () => void this.#inspectors?.delete(inspector) }
  }

  get(systemId: string): Member | undefined {
    if (this.#isRootNamed && this.#root.systemId === systemId) return this.#root
    return this.#named?.get(systemId)
  }

  getAll(): Readonly<Record<string, Member>> {
    const root = this.#isRootNamed ? { [this.#root.systemId!]: this.#root } : {}
    return { ...root, ...Object.fromEntries(this.#named ?? []) }
  }

  _bookId(): string {
    this.#booked += 1
    return `${this.#root.id}:${this.#booked}`
  }

  _register(): void {}

  _set(systemId: string, actor: Member): void {
    const other = this.get(systemId)
    if (other !== undefined && other !== actor) throw new Error(`There is an actor "${systemId}" already.`)
    if (actor === this.#root) {
      this.#isRootNamed = true
      return
    }
    this.#named ??= new Map()
    this.#named.set(systemId, actor)
  }

  _unregister(actor: Member): void {
    const { systemId } = actor
    if (systemId === undefined || this.get(systemId) !== actor) return
    if (actor === this.#root) this.#isRootNamed = false
    else this.#named!.delete(systemId)
  }

  _relay(source: unknown, actor: Member, event: { readonly type: string }): void {
    if (this.isInspected)
      this._sendInspectionEvent({
        type: '@xstate.event',
        sourceRef: source as AnyActorRef | undefined,
        actorRef: actor as unknown as AnyActorRef,
        event,
      })
    actor._send(event)
  }

  _sendInspectionEvent(event: WithoutRoot<InspectionEvent>): void {
    if (this.#inspectors === undefined) return
    const told = { ...event, rootId: this.#root.sessionId }
    for (const inspector of this.#inspectors) inspector(told)
  }

  /** Scheduler without effect: the planner rejects charts with delays, so nothing is ever scheduled. */
  get scheduler(): { cancelAll(): void } {
    return scheduler
  }
}

const scheduler = { cancelAll: () => {} }
