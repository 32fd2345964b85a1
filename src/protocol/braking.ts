import { z } from 'zod'
import { lazily } from './lazily.ts'
import { economicsSchema } from './economics.ts'
import { agentIdSchema, nodeIdSchema } from './ids.ts'
import { usageSchema } from './messages.ts'
import { undoLedgerSchema, undoPlanSchema } from './undo.ts'

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
    /** Sub-agents that were started in the span and still alive. Those of the agent's own tree were aborted; detached ones continue. */
    children: z
      .array(z.object({ agentId: agentIdSchema(), name: z.string(), aborted: z.boolean() }))
      .readonly()
      .exactOptional(),
  }),
)
export type Evidence = z.infer<ReturnType<typeof evidenceSchema>>

/** A note on a trunk node, left by a revert. It is not a node: it has no id and cannot be a target. */
export const tagSchema = lazily(() =>
  z.object({
    kind: tagKindSchema(),
    text: z.string(),
    turnIndex: z.int().nonnegative(),
    abandoned: z.array(nodeIdSchema()).readonly(),
    evidence: evidenceSchema(),
    /** Steps of the abandoned span that are quoted in full, because the summary had lost names that are still needed. */
    keepVerbatim: z.array(nodeIdSchema()).readonly().exactOptional(),
    /** Set for an outcome or checkpoint: the last non-empty reply of the abandoned span, quoted because a person may have read it. */
    lastReply: nodeIdSchema().exactOptional(),
    /** Set for a revert with `undo`: its ledger. Nothing is listed as undone before the undoing has ended. */
    undo: undoLedgerSchema().exactOptional(),
  }),
)
export type Tag = z.infer<ReturnType<typeof tagSchema>>

const asked = lazily(() => ({
  id: z.string(),
  by: z.enum(['model', 'person']),
}))

export const revertRequestSchema = lazily(() =>
  z.object({
    ...asked(),
    /** `runtime`: asked in order to end a stall, or for a policy. */
    by: z.enum(['model', 'person', 'runtime']),
    category: revertCategorySchema(),
    /** Id of the step as it was given: `n12`, `12`, or any other text. */
    step: z.string(),
    summary: z.string().exactOptional(),
    /** The policy that planned it. */
    policy: z.string().exactOptional(),
    /** Set to undo the effects of the abandoned calls as far as possible. */
    undo: z.literal(true).exactOptional(),
  }),
)
export type RevertRequest = z.infer<ReturnType<typeof revertRequestSchema>>

export const pruneRequestSchema = lazily(() =>
  z.object({
    ...asked(),
    /** `runtime`: asked for a policy. */
    by: z.enum(['model', 'person', 'runtime']),
    steps: z.array(z.string()).readonly().exactOptional(),
    tokens: z.number().positive().exactOptional(),
    memo: z.string().exactOptional(),
    /** Folds the steps, or without `steps` every step that may be folded: `tokens` and `memo` are ignored. */
    fold: z.literal(true).exactOptional(),
    /** Keeps the steps and their calls, and replaces the content of each result by a line. `memo` is ignored. */
    mask: z.literal(true).exactOptional(),
    /** Set for a fold: shortens lines of older folds as they pile up. Without `steps` they are always shortened. */
    rollUp: z.literal(true).exactOptional(),
    /** The policy that planned it. */
    policy: z.string().exactOptional(),
  }),
)
export type PruneRequest = z.infer<ReturnType<typeof pruneRequestSchema>>

export const pinRequestSchema = lazily(() =>
  z.object({
    ...asked(),
    /** `runtime`: a tool asked for it. Such a pin holds against everything but a revert. */
    by: z.enum(['model', 'person', 'runtime']),
    /** Id of the step as it was given: `n12`, `12`, or any other text. */
    step: z.string(),
    /** True to pin the step; `false` to unpin it. */
    pinned: z.boolean(),
  }),
)
export type PinRequest = z.infer<ReturnType<typeof pinRequestSchema>>

export const graftRequestSchema = lazily(() =>
  z.object({
    ...asked(),
    /** Ids of the steps as they were given: `n12`, `12`, or any other text. */
    steps: z.array(z.string()).readonly(),
  }),
)
export type GraftRequest = z.infer<ReturnType<typeof graftRequestSchema>>

export const stallRuleSchema = lazily(() => z.enum(['repeat', 'cycle', 'sameError', 'repeat4', 'nothingNew', 'errors']))
export type StallRule = z.infer<ReturnType<typeof stallRuleSchema>>

/** A loop of an agent, computed from its log. */
export const stallSchema = lazily(() =>
  z.object({
    rule: stallRuleSchema(),
    /** Id of the first node of the loop's first step. */
    first: nodeIdSchema(),
    /** The last node of the step before the loop, or of the nearest earlier step that is still on the trunk. */
    target: nodeIdSchema(),
    /** The steps of the loop, by their first nodes, oldest first. */
    steps: z.array(nodeIdSchema()).readonly(),
    /** A description of the repetition, in one line. */
    evidence: z.string(),
  }),
)
export type Stall = z.infer<ReturnType<typeof stallSchema>>

/** A stall, and the measure taken against it. */
export const stallOutcomeSchema = lazily(() =>
  z.object({
    ...stallSchema().shape,
    /** Position of this stall in a series of stalls that follow each other within six steps. */
    count: z.int().positive(),
    rung: z.enum(['none', 'note', 'revert', 'pause']),
    /** Text of the note to the model. */
    note: z.string().exactOptional(),
  }),
)
export type StallOutcome = z.infer<ReturnType<typeof stallOutcomeSchema>>

export const compactionRequestSchema = lazily(() =>
  z.object({
    ...asked(),
    /** A description of the content that the summary should keep above all. */
    focus: z.string().exactOptional(),
  }),
)
export type CompactionRequest = z.infer<ReturnType<typeof compactionRequestSchema>>

/** A policy of an agent: its name, and the names of its trigger, decider and keeper, such as `tokensOver(60000)`. */
export const policyInfoSchema = lazily(() =>
  z.object({ name: z.string(), when: z.string(), decide: z.string(), keep: z.string() }),
)
export type PolicyInfo = z.infer<ReturnType<typeof policyInfoSchema>>

/** Runs a policy by name, whatever its trigger says. */
export const policyRequestSchema = lazily(() => z.object({ ...asked(), policy: z.string() }))
export type PolicyRequest = z.infer<ReturnType<typeof policyRequestSchema>>

/** The start of a policy that fired. */
export const policyStartSchema = lazily(() =>
  z.object({
    policy: z.string(),
    /** Reason in a few words. */
    why: z.string(),
    /** Number of turns in the agent's lifetime. */
    turn: z.int().nonnegative(),
    /** Estimated tokens of the next request. */
    tokens: z.number().nonnegative(),
    /** Id of the request that it answers. */
    requestId: z.string().exactOptional(),
  }),
)
export type PolicyStart = z.infer<ReturnType<typeof policyStartSchema>>

/**
 * Outcome of a policy. Without a start, it states the cost of a policy that did not fire. The drains decide its requests, and each outcome has its
 * own record.
 */
export const policyEndSchema = lazily(() =>
  z.object({
    policy: z.string(),
    outcome: z.enum(['planned', 'nothing', 'failed']),
    /** Ids of its requests. */
    prune: z.string().exactOptional(),
    revert: z.string().exactOptional(),
    /** Text of the note to the model. */
    note: z.string().exactOptional(),
    /** Reason why it failed or found nothing to do. */
    reason: z.string().exactOptional(),
    /** Id of the request that this answers. */
    requestId: z.string().exactOptional(),
    /** Usage of the models that the policy asked. */
    usage: usageSchema().exactOptional(),
    costUsd: z.number(),
  }),
)
export type PolicyEnd = z.infer<ReturnType<typeof policyEndSchema>>

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
    /** Undo plan of an applied revert: the calls to undo, and the calls that cannot be undone. The ledger follows in `undo.end`. */
    undo: undoPlanSchema().exactOptional(),
  }),
)
type AnyRevertOutcome = z.infer<ReturnType<typeof revertOutcomeSchema>>
type OfApplied = 'target' | 'tag' | 'rebased' | 'economics' | 'undo'

/** An applied revert: the head went back, and `tag` describes the abandoned branch. */
export type AppliedRevert = Omit<AnyRevertOutcome, 'applied' | 'reason'> &
  Required<Pick<AnyRevertOutcome, 'target' | 'tag'>> & { readonly applied: true; readonly reason?: undefined }

/** A refused revert; `reason` says why. */
export type RefusedRevert = Omit<AnyRevertOutcome, 'applied' | 'reason' | OfApplied> & {
  readonly [F in OfApplied]?: undefined
} & { readonly applied: false; readonly reason: string }

export type RevertOutcome = AppliedRevert | RefusedRevert

/** Records of reverts, told apart by `applied`. One schema accepts both, because old logs contain both. */
export type TellingReverts<R> = R extends { readonly type: 'revert.applied' }
  ? (Omit<R, keyof AppliedRevert> & AppliedRevert) | (Omit<R, keyof AppliedRevert> & RefusedRevert)
  : R

/** Outcome of a prune. `steps` are hidden, or their results masked; `reason` explains why other steps were left. */
export const pruneOutcomeSchema = lazily(() =>
  z.object({
    id: z.string(),
    applied: z.boolean(),
    steps: z.array(nodeIdSchema()).readonly(),
    /** Estimated number of hidden tokens; for a mask, of freed tokens. */
    tokens: z.number().nonnegative(),
    memo: z.string().exactOptional(),
    reason: z.string().exactOptional(),
    /** Economics of an applied prune. */
    economics: economicsSchema().exactOptional(),
    /** Set for a mask: the steps are shown without the content of their results. */
    masked: z.literal(true).exactOptional(),
    /** Set for a fold: `memo` has a line for each step, in their order. */
    by: z.literal('runtime').exactOptional(),
    /** The policy that chose the steps. */
    policy: z.string().exactOptional(),
    /** Set for a fold: names that occur only in hidden steps. Each line has the id of a step, then its names. */
    index: z.string().exactOptional(),
    /** Set for a fold: shorter memos that replace those of older folds. */
    rolled: z
      .array(
        z.object({
          folds: z.array(z.string()).readonly(),
          /** Detail of the memo: a line for each step, or a few lines for all of them. */
          detail: z.enum(['shortLine', 'digest']),
          memo: z.string(),
        }),
      )
      .readonly()
      .exactOptional(),
  }),
)
export type PruneOutcome = z.infer<ReturnType<typeof pruneOutcomeSchema>>

/** Outcome of a pin; `reason` says why nothing changed. */
export const pinOutcomeSchema = lazily(() =>
  z.object({
    id: z.string(),
    applied: z.boolean(),
    requested: z.string(),
    pinned: z.boolean(),
    /** The first node of the step, or the id of a summary. */
    step: nodeIdSchema().exactOptional(),
    reason: z.string().exactOptional(),
  }),
)
export type PinOutcome = z.infer<ReturnType<typeof pinOutcomeSchema>>

/** Outcome of a graft; `copies` are on the trunk, and `reason` explains the steps that were not copied. */
export const graftOutcomeSchema = lazily(() =>
  z.object({
    id: z.string(),
    applied: z.boolean(),
    requested: z.array(z.string()).readonly(),
    /** The new nodes, in order, each with the original node that it repeats. */
    copies: z.array(z.object({ nodeId: nodeIdSchema(), from: nodeIdSchema() })).readonly(),
    reason: z.string().exactOptional(),
    /** Economics of an applied graft. */
    economics: economicsSchema().exactOptional(),
  }),
)
export type GraftOutcome = z.infer<ReturnType<typeof graftOutcomeSchema>>
