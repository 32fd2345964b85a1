import {
  askedBrakes,
  askedKinds,
  refusalOf,
  type AskedBrake,
  type BrakeQueue,
  type BrakeQueues,
  type OutcomeOf,
  type RequestOf,
} from '../protocol/brakes/brakeTable.ts'
import { formatNodeId } from '../protocol/ids.ts'
import type { AgentContext, CallState } from './agentTypes.ts'
import type { BrakeCall } from './effectTypes.ts'
import type { FoldOutput } from './drainTypes.ts'
import type { Draft } from './draft.ts'

/** Key of the current drain. Each drain ends with a record, so no two have the same place in the log. */
export const drainKey = (context: AgentContext): string => `${context.agentId}/drain/${context.drainedAt}`

/** Key and id of the current fold. A fold that is not applied leaves no record, so folds and drains have separate keys. */
export const foldKey = (context: AgentContext): string => `${context.agentId}/fold/${context.drainedAt}`

/** Opens a drain, which answers the requests waiting at this point. Later ones are left to the next drain. */
export function beginDrain(draft: Draft, queue: BrakeQueue): void {
  draft.set({ drainedAt: draft.context.seq, drained: draft.context[queue].map(({ id }) => id) })
}

/** Queues a request for the next drain. With the brake's switch off, queues only a person's request. */
export function askFor<K extends AskedBrake>(draft: Draft, kind: K, request: RequestOf<K>): void {
  const { queue }: { readonly queue: BrakeQueue } = askedBrakes[kind]
  if (!mayBeAsked(draft.context, kind, request)) return
  draft.record({ type: `${kind}.requested`, ...draft.at, request } as never)
  draft.set({ [queue]: [...draft.context[queue], request] })
}

/** True if a request is allowed. The switches are for the model and the runtime: people and code may always ask. */
const mayAsk = ({ by }: { readonly by: 'model' | 'person' | 'runtime' }, isOn: boolean): boolean =>
  isOn || by === 'person'

function mayBeAsked(context: Pick<AgentContext, 'policy'>, kind: AskedBrake, request: RequestOf<AskedBrake>): boolean {
  const { flag }: { readonly queue: string; readonly flag?: 'revert' | 'prune' } = askedBrakes[kind]
  return flag === undefined || mayAsk(request, context.policy.flags[flag])
}

/** Returns the requests that their brakes may decide. */
export const openQueues = (waiting: BrakeQueues, context: Pick<AgentContext, 'policy'>): BrakeQueues =>
  Object.fromEntries(
    askedKinds.map((kind) => {
      const { queue } = askedBrakes[kind]
      return [queue, waiting[queue].filter((request) => mayBeAsked(context, kind, request))]
    }),
  ) as unknown as BrakeQueues

/** True if a request waits that its brake may decide. */
export const isAsked = (context: AgentContext, kind: AskedBrake): boolean =>
  context[askedBrakes[kind].queue].some((request) => mayBeAsked(context, kind, request))

/**
 * Queues a pin that a tool asked for, if compaction or pruning could hide its step. The pin is logged before the
 * call's result: a crash in between leaves a pin for a call that is answered later, never a result without its pin.
 */
export function pinResult(draft: Draft, { key, nodeId }: Pick<CallState, 'key' | 'nodeId'>): void {
  const { compact, prune } = draft.context.policy.flags
  const id = `${key}/pin`
  if ((!compact && !prune) || draft.context.pins.some((request) => request.id === id)) return
  askFor(draft, 'pin', { id, by: 'runtime', step: formatNodeId(nodeId), pinned: true })
}

/** Queues the request that the model made by calling a brake tool; the call's `key` is the request's id. */
export function requestBrake(draft: Draft, key: string, { type, ...asked }: BrakeCall): void {
  askFor(draft, type, { id: key, by: 'model', ...asked } as never)
}

/** Records an outcome, and takes its request off the queue. */
export function recordOutcome<K extends AskedBrake>(draft: Draft, kind: K, outcome: OutcomeOf<K>): void {
  draft.record({ type: `${kind}.applied`, ...draft.at, ...outcome } as never)
  drop(draft, kind, [outcome.id])
}

function drop(draft: Draft, kind: AskedBrake, ids: readonly string[]): void {
  const { queue } = askedBrakes[kind]
  draft.set({ [queue]: draft.context[queue].filter(({ id }) => !ids.includes(id)) })
}

/** Opens a drain that was not requested, for a fold or a stall check. Requests that arrive meanwhile are left to the next drain. */
export const beginUnasked = (draft: Draft): void => draft.set({ drainedAt: draft.context.seq, drained: none })

/** Records the fold, if there is one. */
export function applyFold(draft: Draft, { outcome, contextTokens }: FoldOutput): void {
  if (outcome === null) return
  draft.record({ type: 'prune.applied', ...draft.at, ...outcome })
  draft.set({ compactedAt: 0, contextTokens })
}

/** Forgets the size at which the next fold was due: the trunk was reshaped, so the estimate from the last reply no longer holds. */
export function forgetFold(draft: Draft): void {
  if (draft.context.foldAt !== null) draft.set({ foldAt: 0 })
}

const none: readonly string[] = Object.freeze([])

/** Refuses waiting requests of a brake, all or `only` these, because the drain failed or will not happen. */
export function refuse(draft: Draft, kind: AskedBrake, why: string, only?: readonly string[]): void {
  const { queue } = askedBrakes[kind]
  const refused = draft.context[queue].filter(({ id }) => only === undefined || only.includes(id))
  for (const asked of refused)
    draft.record({ type: `${kind}.applied`, ...draft.at, ...refusalOf(kind, asked as never, why) } as never)
  drop(draft, kind, only ?? refused.map(({ id }) => id))
}

/** Refuses the waiting requests to reshape the trunk. Pins stay queued, because they still hold in the next run. */
export function refuseReshaping(draft: Draft, why: string): void {
  for (const kind of askedKinds) if (kind !== 'pin') refuse(draft, kind, why)
}
