import { isObject } from '../../../../src/protocol/checks/isObject.ts'

/**
 * Kinds of actors, by their treatment after a crash. An agent continues from its log, and a durable effect follows its rule. The effect of
 * a promise is unknown. A machine in a machine would need a log of its own. All other actors are live only, and are started again.
 */
export type ActorKind = 'agent' | 'durable' | 'promise' | 'machine' | 'live'

const agents = new WeakSet<object>()
const durables = new WeakSet<object>()

/** Marks the logic of an agent. */
export const isAgentLogic = <T extends object>(logic: T): T => (agents.add(logic), logic)
/** Marks the logic of a durable effect. */
export const isDurableLogic = <T extends object>(logic: T): T => (durables.add(logic), logic)

/** Returns the kind of an actor's logic. */
export function kindOf(logic: unknown): ActorKind {
  if (!isObject(logic)) return 'live'
  if (agents.has(logic)) return 'agent'
  if (durables.has(logic)) return 'durable'
  if ('root' in logic && 'implementations' in logic) return 'machine'
  return isPromise(logic) ? 'promise' : 'live'
}

const asked = { status: 'active', output: undefined, error: undefined, input: undefined }

/**
 * Returns true for the logic of a promise. Every copy of XState makes it from plain functions, without a
 * mark, but it takes this event for its end. Reducers, which have no `start`, are not asked.
 */
function isPromise(logic: object): boolean {
  if (!('start' in logic) || !('transition' in logic) || typeof logic.transition !== 'function') return false
  try {
    const next: unknown = logic.transition(asked, { type: 'xstate.promise.resolve', data: 0 }, { self: {}, system: {} })
    return isObject(next) && 'status' in next && next.status === 'done'
  } catch {
    return false
  }
}
