import { z } from 'zod'
import { lazily } from '../../lazily.ts'
import { toAgent } from '../../bridge/toAgent.ts'
import { onlyFields } from '../../checks/onlyFields.ts'
import { economicsSchema } from '../../economics.ts'
import { agentIdSchema, nodeIdSchema } from '../../ids.ts'
import { usageSchema } from '../../messages.ts'
import { inTurn } from '../../recordShapes.ts'
import { stateMoveSchema } from '../../parts/state/stateRecords.ts'
import { undoLedgerSchema, undoPlanSchema, undoStepSchema } from '../../undo.ts'
import { asked } from '../asked.ts'

export const revertCategorySchema = lazily(() => z.enum(['failure', 'tangent', 'completion', 'step-summary']))
export type RevertCategory = z.infer<ReturnType<typeof revertCategorySchema>>

export const tagKindSchema = lazily(() => z.enum(['lesson', 'finding', 'outcome', 'checkpoint']))
export type TagKind = z.infer<ReturnType<typeof tagKindSchema>>

/** Evidence of an abandoned span, computed from it and never written by a model. */
export const evidenceSchema = lazily(() =>
  z.object({
    calls: z
      .array(
        z.object({
          name: z.string(),
          attempts: z.int().positive(),
          /** The last line of the last error, at most 200 characters. */
          lastError: z.string().exactOptional(),
        }),
      )
      .readonly(),
    /** Files that tools reported as changed: a revert does not restore them. */
    changed: z.array(z.string()).readonly(),
    /** Sub-agents started in the span that were still running. Those in the agent's own tree were aborted, and detached ones continue. */
    children: z
      .array(z.object({ agentId: agentIdSchema(), name: z.string(), aborted: z.boolean() }))
      .readonly()
      .exactOptional(),
    /** Background calls of the span, by their ids for the model. They end with the span, except those that survive. */
    background: z
      .array(z.object({ id: z.string(), name: z.string(), aborted: z.boolean() }))
      .readonly()
      .exactOptional(),
  }),
)
export type Evidence = z.infer<ReturnType<typeof evidenceSchema>>

/** A note on a trunk node, left by a revert. Not a node: it has no id and cannot be a target. */
export const tagSchema = lazily(() =>
  z.object({
    kind: tagKindSchema(),
    text: z.string(),
    turnIndex: z.int().nonnegative(),
    abandoned: z.array(nodeIdSchema()).readonly(),
    evidence: evidenceSchema(),
    /** Steps of the abandoned span quoted in full, where the summary had lost names that are still needed. */
    keepVerbatim: z.array(nodeIdSchema()).readonly().exactOptional(),
    /** For an outcome or checkpoint: the last reply of the abandoned span that said something, quoted because a person may have read it. */
    lastReply: nodeIdSchema().exactOptional(),
    /** Ledger of a revert with `undo`. Until the undo has ended, it lists nothing as undone. */
    undo: undoLedgerSchema().exactOptional(),
  }),
)
export type Tag = z.infer<ReturnType<typeof tagSchema>>

export const revertRequestSchema = lazily(() =>
  z.object({
    ...asked(),
    /** Origin of the request. `runtime`: to end a stall, or for a policy. */
    by: z.enum(['model', 'person', 'runtime']),
    category: revertCategorySchema(),
    /** Id of the step as it was given: `n12`, `12`, or any other text. */
    step: z.string(),
    summary: z.string().exactOptional(),
    /** The policy that planned it. */
    policy: z.string().exactOptional(),
    /** Set if the effects of the abandoned calls are to be undone as far as possible. */
    undo: z.literal(true).exactOptional(),
  }),
)
export type RevertRequest = z.infer<ReturnType<typeof revertRequestSchema>>

/** Outcome of a revert; `reason` says why it was refused. */
export const revertOutcomeSchema = lazily(() =>
  z.object({
    id: z.string(),
    applied: z.boolean(),
    category: revertCategorySchema(),
    requested: z.string(),
    reason: z.string().exactOptional(),
    /** The last node of the step asked for: the new head, unless user messages were re-appended after it. */
    target: nodeIdSchema().exactOptional(),
    tag: tagSchema().exactOptional(),
    /** Usage of the model that wrote the summary. */
    usage: usageSchema().exactOptional(),
    costUsd: z.number().exactOptional(),
    /** User messages of the span, appended again after the target. */
    rebased: z
      .array(z.object({ nodeId: nodeIdSchema(), from: nodeIdSchema() }))
      .readonly()
      .exactOptional(),
    /** Economics of an applied revert. */
    economics: economicsSchema().exactOptional(),
    /** Effect of the revert on the agent's state, if that changed. */
    state: stateMoveSchema().exactOptional(),
    /** Undo plan of an applied revert: the calls to try, and those to leave. The ledger follows in `undo.end`. */
    undo: undoPlanSchema().exactOptional(),
  }),
)
type AnyRevertOutcome = z.infer<ReturnType<typeof revertOutcomeSchema>>
type OfApplied = 'target' | 'tag' | 'rebased' | 'economics' | 'undo' | 'state'

/** An applied revert: the head went back, and `tag` describes the abandoned branch. */
export type AppliedRevert = Omit<AnyRevertOutcome, 'applied' | 'reason'> &
  Required<Pick<AnyRevertOutcome, 'target' | 'tag'>> & { readonly applied: true; readonly reason?: undefined }

/** A refused revert; `reason` says why. */
export type RefusedRevert = Omit<AnyRevertOutcome, 'applied' | 'reason' | OfApplied> & {
  readonly [F in OfApplied]?: undefined
} & { readonly applied: false; readonly reason: string }

export type RevertOutcome = AppliedRevert | RefusedRevert

/** Records in which `applied` tells the two kinds of revert apart. The schema accepts both in one shape, as old logs have them. */
export type TellingReverts<R> = R extends { readonly type: 'revert.applied' }
  ? (Omit<R, keyof AppliedRevert> & AppliedRevert) | (Omit<R, keyof AppliedRevert> & RefusedRevert)
  : R

export const revertRecords = {
  'revert.requested': () =>
    z.object({ ...inTurn(), type: z.literal('revert.requested'), request: revertRequestSchema() }),
  'revert.applied': () => z.object({ ...inTurn(), type: z.literal('revert.applied'), ...revertOutcomeSchema().shape }),
  /** The outcome of undoing one call in the list of the `revert.applied` with this `id`. The steps follow the order of that list. */
  'undo.step': () => z.object({ ...inTurn(), type: z.literal('undo.step'), id: z.string(), ...undoStepSchema().shape }),
  /** The end of a revert's undo, with its outcome. */
  'undo.end': () => z.object({ ...inTurn(), type: z.literal('undo.end'), id: z.string(), ...undoLedgerSchema().shape }),
} as const

export const revertCommands = {
  'agent.revert': () =>
    onlyFields({
      ...toAgent(),
      type: z.literal('agent.revert'),
      step: z.string(),
      category: revertCategorySchema(),
      summary: z.string().exactOptional(),
      /** Undoes the effects of the abandoned calls, as far as possible. */
      undo: z.boolean().exactOptional(),
    }),
} as const

export type RevertCommand = z.output<ReturnType<(typeof revertCommands)['agent.revert']>>
