import { isObject } from '../../../../src/protocol/checks/isObject.ts'

/**
 * Kinds of actors by what becomes of them after a crash: an agent continues from its log; a durable effect by its rule; a promise is of unknown
 * effect, and a machine in a machine would need a log of its own; whatever else is live only, and is started again.
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
 * XState of any copy makes a promise's logic of plain functions, without a mark. What tells it is that it takes this event for its end; a reducer,
 * which has no `start`, is not asked.
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
