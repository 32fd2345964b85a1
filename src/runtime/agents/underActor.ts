// XState marks its internal members with an underscore.
/* oxlint-disable no-underscore-dangle */
import { type AnyActorLogic, type AnyActorRef, createActor } from 'xstate'
import type { UnderActor } from '../children/spawnOptions.ts'

/**
 * A child of the application's actor, in its system: run by XState's own actors, because systems of other copies know no others. It has
 * no system id, which could be taken there. Its messages to its parent go nowhere: XState would warn when the parent has stopped before
 * the agent has settled, and a parent that was started again would take the end of the earlier agent for its own.
 */
export function createActorUnder(
  under: UnderActor,
  logic: AnyActorLogic,
  options: { readonly id: string; readonly input: unknown },
): AnyActorRef {
  const parent = Object.create(under, { _send: { value: () => {} } }) as AnyActorRef
  return createActor(logic, { ...options, parent })
}

/** Stops an actor that has a parent, which `stop` refuses. */
export const stopActor = (actor: object): void => {
  ;(actor as { _stop(): void })._stop()
}
