// XState marks its internal members with an underscore.
/* oxlint-disable no-underscore-dangle */
import type { AnyActorRef, InspectionEvent, Subscription } from 'xstate'

type Inspector = (event: InspectionEvent) => void
type WithoutRoot<E> = E extends unknown ? Omit<E, 'rootId'> : never

interface Member {
  readonly systemId?: string | undefined
  _send(event: { readonly type: string }): void
}

/** A small replacement for XState's actor system: there is one for every root agent, so it must cost little memory. */
export class ActorSystem {
  readonly #root: Member & { readonly id: string; readonly sessionId: string }
  #booked = 0
  /** Actors by system id, the root left out: most systems have no other. */
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

  /** The planner rejects charts with delays, so nothing is ever scheduled. */
  get scheduler(): { cancelAll(): void } {
    return scheduler
  }
}

const scheduler = { cancelAll: () => {} }
