// XState names the parent of an actor so.
/* oxlint-disable no-underscore-dangle */
import { callListener } from '../../protocol/callbackBugs.ts'
import type { AnyActorRef, InspectionEvent } from 'xstate'

export type InspectionListener = (event: InspectionEvent) => unknown

/** Returns true if an actor is the agent's own or one below it. */
const isBelow = (actor: AnyActorRef, top: AnyActorRef): boolean => {
  for (let at: AnyActorRef | undefined = actor; at !== undefined; at = at._parent) if (at === top) return true
  return false
}

const childrenOf = (actor: AnyActorRef): AnyActorRef[] => {
  const { children = {} } = actor.getSnapshot() as { children?: Readonly<Record<string, AnyActorRef | undefined>> }
  return Object.values(children).filter((child) => child !== undefined)
}

/** Listeners to XState's inspection events for one agent: for its actor and every actor below it. */
export class Inspections {
  #top: AnyActorRef | undefined
  readonly #ends = new Map<InspectionListener, (() => void) | undefined>()

  get isEmpty(): boolean {
    return this.#ends.size === 0
  }

  /** Starts to report to the listeners, when the agent's actor has been created. */
  begin(actor: AnyActorRef): void {
    this.#top = actor
    for (const listener of this.#ends.keys()) this.#ends.set(listener, follow(actor, listener))
  }

  /** Reports the existing actors, then everything that happens; returns a function that ends it. */
  add(listener: InspectionListener): () => void {
    const own: InspectionListener = (event) => callListener('A listener of inspect', listener, event)
    this.#ends.set(own, this.#top === undefined ? undefined : follow(this.#top, own))
    return () => {
      this.#ends.get(own)?.()
      this.#ends.delete(own)
    }
  }
}

function follow(top: AnyActorRef, listener: InspectionListener): () => void {
  const known = new WeakSet<object>()
  const introduce = (actor: AnyActorRef): void => {
    known.add(actor)
    listener({ type: '@xstate.actor', rootId: top.sessionId, actorRef: actor })
    for (const child of childrenOf(actor)) introduce(child)
  }
  introduce(top)
  const subscription = top.system.inspect((event: InspectionEvent) => {
    const actor = event.actorRef as AnyActorRef
    if (!isBelow(actor, top) || (event.type === '@xstate.actor' && known.has(actor))) return
    known.add(actor)
    // Its system may be the application's, with another root.
    listener({ ...event, rootId: top.sessionId })
  })
  return () => subscription.unsubscribe()
}
