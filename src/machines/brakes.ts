import type { GraftRequest, PinRequest, PruneRequest, RevertRequest } from '../protocol/braking.ts'
import { formatNodeId } from '../protocol/ids.ts'
import type { AgentContext, CallState } from './agentTypes.ts'
import type { BrakeCall } from './effectTypes.ts'
import type { FoldOutput, GraftsOutput, PinsOutput, PrunesOutput, RevertsOutput } from './drainTypes.ts'
import type { Draft } from './draft.ts'
import { beginUndo } from './undoing.ts'

/** Key of the current drain: each ends with a record, so no two have the same place in the log. */
export const drainKey = (context: AgentContext): string => `${context.agentId}/drain/${context.drainedAt}`

/** Key of the current fold, and its id. One that is not applied leaves no record, so folds and drains have keys of their own. */
export const foldKey = (context: AgentContext): string => `${context.agentId}/fold/${context.drainedAt}`

/** Opens a drain: it answers the requests waiting at this point; later ones are left to the next drain. */
export function beginDrain(draft: Draft, queue: 'reverts' | 'grafts' | 'prunes' | 'pins'): void {
  const asked = draft.context[queue].map(({ id }) => id) ?? []
  draft.set({ drainedAt: draft.context.seq, drained: asked })
}

/** Queues a revert for the next drain; with the switch off, one of a person alone. */
export function requestRevert(draft: Draft, request: RevertRequest): void {
  const { reverts, policy } = draft.context
  if (!mayAsk(request, policy.flags.revert)) return
  draft.record({ type: 'revert.requested', ...draft.at, request })
  draft.set({ reverts: [...reverts, request] })
}

/** Queues a prune for the next drain; with the switch off, one of a person alone. */
export function requestPrune(draft: Draft, request: PruneRequest): void {
  const { prunes, policy } = draft.context
  if (!mayAsk(request, policy.flags.prune)) return
  draft.record({ type: 'prune.requested', ...draft.at, request })
  draft.set({ prunes: [...prunes, request] })
}

/** The switches are for the model and the runtime: people and code may always ask. */
export const mayAsk = ({ by }: { readonly by: 'model' | 'person' | 'runtime' }, isOn: boolean): boolean =>
  isOn || by === 'person'

/** Queues a graft for the next drain. */
export function requestGraft(draft: Draft, request: GraftRequest): void {
  draft.record({ type: 'graft.requested', ...draft.at, request })
  draft.set({ grafts: [...draft.context.grafts, request] })
}

/** Queues a pin for the next drain. */
export function requestPin(draft: Draft, request: PinRequest): void {
  draft.record({ type: 'pin.requested', ...draft.at, request })
  draft.set({ pins: [...draft.context.pins, request] })
}

/**
 * Queues a pin that a tool asked for, where anything could hide its step. Goes before the call's result into the log: a crash in between
 * leaves a pin of a call that is answered later, never a result that nothing keeps.
 */
export function pinResult(draft: Draft, { key, nodeId }: Pick<CallState, 'key' | 'nodeId'>): void {
  const { compact, prune } = draft.context.policy.flags
  const id = `${key}/pin`
  if ((!compact && !prune) || draft.context.pins.some((request) => request.id === id)) return
  requestPin(draft, { id, by: 'runtime', step: formatNodeId(nodeId), pinned: true })
}

/** Queues the request that the model made by calling a brake tool; the call's `key` is the request's id. */
export function requestBrake(draft: Draft, key: string, brake: BrakeCall): void {
  const asked = { id: key, by: 'model' } as const
  if (brake.type === 'revert') {
    const { type: _, ...request } = brake
    requestRevert(draft, { ...asked, ...request })
  } else if (brake.type === 'graft') {
    const { type: _, ...request } = brake
    requestGraft(draft, { ...asked, ...request })
  } else {
    const { type: _, ...request } = brake
    requestPrune(draft, { ...asked, ...request })
  }
}

/** Applies the outcomes of a drain: records them and moves the head. */
export function applyReverts(draft: Draft, output: RevertsOutput): void {
  const { hidden = [], held = [] } = output
  for (const outcome of hidden) draft.record({ type: 'prune.applied', ...draft.at, ...outcome })
  if (hidden.length > 0) {
    forgetFold(draft)
    draft.set({ compactedAt: 0 })
  }
  for (const outcome of output.outcomes) {
    draft.record({ type: 'revert.applied', ...draft.at, ...outcome })
    draft.set({ reverts: draft.context.reverts.filter(({ id }) => id !== outcome.id) })
    if (!outcome.applied || outcome.target === undefined) continue
    forgetFold(draft)
    const last = outcome.rebased?.at(-1)?.nodeId
    draft.set({ compactedAt: 0, head: last ?? outcome.target, ...(last === undefined ? {} : { lastNodeId: last }) })
    beginUndo(draft, outcome)
  }
  // At rest nothing is held back: the next drain would follow at once.
  const waits = draft.context.run === null ? [] : held
  const answered = draft.context.drained.filter((id) => !waits.includes(id))
  refuseReverts(draft, 'the drain gave no answer', answered)
  draft.set({ contextTokens: output.contextTokens })
}

/** Records the copies and moves the head to the last of them. */
export function applyGrafts(draft: Draft, output: GraftsOutput): void {
  for (const outcome of output.outcomes) {
    draft.record({ type: 'graft.applied', ...draft.at, ...outcome })
    draft.set({ grafts: draft.context.grafts.filter(({ id }) => id !== outcome.id) })
    const last = outcome.copies.at(-1)?.nodeId
    if (last === undefined) continue
    forgetFold(draft)
    draft.set({ head: last, lastNodeId: last })
  }
  refuseGrafts(draft, 'the drain gave no answer', draft.context.drained)
  draft.set({ contextTokens: output.contextTokens })
}

export function applyPrunes(draft: Draft, output: PrunesOutput): void {
  for (const outcome of output.outcomes) {
    draft.record({ type: 'prune.applied', ...draft.at, ...outcome })
    draft.set({ prunes: draft.context.prunes.filter(({ id }) => id !== outcome.id) })
  }
  refusePrunes(draft, 'the drain gave no answer', draft.context.drained)
  if (output.outcomes.some(({ applied }) => applied)) {
    forgetFold(draft)
    draft.set({ compactedAt: 0 })
  }
  draft.set({ contextTokens: output.contextTokens })
}

export function applyPins(draft: Draft, output: PinsOutput): void {
  for (const outcome of output.outcomes) {
    draft.record({ type: 'pin.applied', ...draft.at, ...outcome })
    draft.set({ pins: draft.context.pins.filter(({ id }) => id !== outcome.id) })
  }
  refusePins(draft, 'the drain gave no answer', draft.context.drained)
}

/** Opens a drain that was not requested, a fold or a look for a stall: requests that arrive meanwhile are left to the next drain. */
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

/** Refuses waiting reverts, all or `only` these, because the drain failed or will not happen. */
export function refuseReverts(draft: Draft, why: string, only?: readonly string[]): void {
  const waiting = draft.context.reverts
  for (const { id, category, step } of waiting) {
    if (only !== undefined && !only.includes(id)) continue
    draft.record({
      type: 'revert.applied',
      ...draft.at,
      id,
      applied: false,
      category,
      requested: step,
      reason: `revert refused: ${why}`,
    })
  }
  draft.set({ reverts: left(waiting, only) })
}

export function refuseGrafts(draft: Draft, why: string, only?: readonly string[]): void {
  const waiting = draft.context.grafts
  for (const { id, steps } of waiting) {
    if (only !== undefined && !only.includes(id)) continue
    const refused = { applied: false, requested: steps, copies: [], reason: `graft refused: ${why}` }
    draft.record({ type: 'graft.applied', ...draft.at, id, ...refused })
  }
  draft.set({ grafts: left(waiting, only) })
}

export function refusePrunes(draft: Draft, why: string, only?: readonly string[]): void {
  const waiting = draft.context.prunes
  for (const { id } of waiting) {
    if (only !== undefined && !only.includes(id)) continue
    draft.record({
      type: 'prune.applied',
      ...draft.at,
      id,
      applied: false,
      steps: [],
      tokens: 0,
      reason: `prune refused: ${why}`,
    })
  }
  draft.set({ prunes: left(waiting, only) })
}

export function refusePins(draft: Draft, why: string, only?: readonly string[]): void {
  const waiting = draft.context.pins
  for (const { id, step: requested, pinned } of waiting) {
    if (only !== undefined && !only.includes(id)) continue
    const reason = `${pinned ? 'pin' : 'unpin'} refused: ${why}`
    draft.record({ type: 'pin.applied', ...draft.at, id, applied: false, requested, pinned, reason })
  }
  draft.set({ pins: left(waiting, only) })
}

const left = <R extends { readonly id: string }>(waiting: readonly R[], answered: readonly string[] | undefined): R[] =>
  answered === undefined ? [] : waiting.filter(({ id }) => !answered.includes(id))
