import type { AnyModel } from '../models/anyModel.ts'
import { z } from 'zod'
import { onlyFields } from '../../protocol/checks/onlyFields.ts'
import { recallName } from '../../conversation/tree/stepText.ts'
import { lazily } from '../../protocol/lazily.ts'
import { graftBrake } from '../../protocol/brakes/graft/graftBrake.ts'
import { pruneBrake } from '../../protocol/brakes/prune/pruneBrake.ts'
import { pinBrake } from '../../protocol/brakes/pins/pinBrake.ts'
import { defaultRevertPolicy, ignoredTools, type RevertPolicy } from '../../conversation/brakes/revert/planRevert.ts'
import { defaultFoldPolicy, type FoldPolicy } from '../../conversation/brakes/fold/planFold.ts'
import { defaultStallPolicy } from '../../conversation/brakes/stall/decideStall.ts'
import { defaultTagPolicy, type TagPolicy } from '../../conversation/request/visibleTags.ts'
import { RuntimeError } from '../../protocol/errors.ts'
import { stallRuleSchema, type StallRule } from '../../protocol/braking.ts'
import type { AgentDefinition, RevertSettings, StallSettings } from './agentDefinition.ts'
import { windowOf, type CompactionOption } from './compactionOptions.ts'
import { isPolicy, type Policy } from './policy.ts'
import { modelOf } from '../models/modelOf.ts'
import { agentPart } from '../parts/agentPart.ts'
import { pinTool } from '../brakes/pins/pinTool.ts'
import { graftTool } from '../brakes/graft/graftTool.ts'
import { prunTool } from '../brakes/prune/prunTool.ts'
import { showTool } from '../brakes/prune/showTool.ts'
import { recallTool } from '../brakes/recall/recallTool.ts'
import { revertTool } from '../brakes/revert/revertTool.ts'
import type { Tool } from '../tools/defineTool.ts'
import { withoutUndefined } from './withoutUndefined.ts'

export interface RevertOptions
  extends Partial<RevertPolicy>, Partial<Pick<TagPolicy, 'lessonWindowTurns' | 'lessonWindowCount' | 'decay'>> {
  /** A cheap model that writes one-line notes that came without text; without it they show only their evidence. */
  readonly summaryModel?: AnyModel
  /** `'high'`: outcomes and checkpoints are always written by the agent's own model and checked. Default `'normal'`. */
  readonly fidelity?: 'normal' | 'high'
  /** Time limit for a summary, in milliseconds; default 60,000. */
  readonly summaryTimeoutMs?: number
  /** `'uneconomic'`: outcomes and checkpoints that the model asks for are held back until they pay. Default `'never'`. */
  readonly defer?: 'never' | 'uneconomic'
  /** Lets the model ask to undo the effects of the abandoned calls, as far as their tools can. Default `false`. */
  readonly undo?: boolean
}

/**
 * Options for when and how far old steps are folded. Each has a default, found on recorded sessions; most agents need
 * no others. `defineAgent` refuses a `cap` without room for instructions, tools, `work` and the index.
 */
export type FoldOptions = Partial<FoldPolicy>

/** Settings for detecting that an agent goes in circles, and for the reaction to it. */
export interface StallOptions {
  /**
   * The rules, asked in this order; default `['repeat', 'cycle', 'sameError']`. `repeat`: the same call with the same result, 3 times in 12
   * steps with no change in between. `cycle`: 2 to 4 steps, twice. `sameError`: the same error of the same tools, 3 times in 6 steps.
   * `repeat4`: as `repeat`, 4 times in a row. `nothingNew`: 8 steps that changed nothing and showed nothing new. `errors`: 3 of 4 steps
   * failed.
   */
  readonly rules?: readonly StallRule[]
  /** True if the model is told first, with a note after its newest step. Default `true`. */
  readonly note?: boolean
  /** True if the runtime goes back to the step before the loop when it continues within 6 steps and nothing would be lost. Default `true`. */
  readonly revert?: boolean
  /** True if the run is paused when the loop continues even then, at its third detection or later. Default `true`. */
  readonly pause?: boolean
}

export interface BrakingOption {
  /** Options for the brakes; off by default. */
  readonly braking?: BrakingOptions
}

/** Options for everything that may reshape the conversation that the model sees. */
export interface BrakingOptions {
  /** Lets the model abandon or condense branches. */
  readonly revert?: boolean | RevertOptions
  /** Lets the model bring back steps of an abandoned branch, as copies at the end of the conversation. */
  readonly graft?: boolean
  /** Lets the model hide steps of its own, with a memo in their place. */
  readonly prune?: boolean
  /** Lets the model show hidden steps again, in their places. Needs `prune`, `fold` or `policies`, which hide them. */
  readonly show?: boolean
  /** Lets the model pin steps, which keeps them in its sight until a revert gives them up. */
  readonly pin?: boolean
  /** Lets the model read again any step that is no longer shown in full. */
  readonly recall?: boolean
  /**
   * Saves tokens: the runtime folds old steps into one line each, in batches and only where that pays, with an index of
   * the names that are gone, and the model may `recall` any of them. For conversations of more than about 30 requests.
   */
  readonly fold?: boolean | FoldOptions
  /** Detects that the agent goes in circles: the runtime tells the model, then goes back, then pauses the run. */
  readonly stall?: boolean | StallOptions
  /** Policies made with `policy`, asked between turns in this order. They give the model `recall`, unless `recall` is `false`. */
  readonly policies?: readonly Policy[]
  /**
   * Adds a line to the result of a call that repeats one on a branch given up as a failure or a tangent: the lesson or
   * the error of the earlier call. The call still runs. Agents of a group also read which calls failed for the others.
   */
  readonly lessons?: boolean
}

const count = lazily(() => z.int().nonnegative())
const share = lazily(() => z.number().gt(0).max(1))

export const brakingSchema = () =>
  onlyFields({
    revert: z.union([
      z.boolean(),
      onlyFields({
        maxRevertsPerTarget: z.int().positive(),
        onUserMessage: z.enum(['refuse', 'rebase']),
        lessonWindowTurns: count(),
        lessonWindowCount: count(),
        decay: z.enum(['exact', 'lazy']),
        summaryModel: z.custom<object>((value) => typeof value === 'object' && value !== null, 'give a model'),
        fidelity: z.enum(['normal', 'high']),
        summaryTimeoutMs: z.number().positive(),
        defer: z.enum(['never', 'uneconomic']),
        undo: z.boolean(),
      }).partial(),
    ]),
    graft: z.boolean(),
    prune: z.boolean(),
    show: z.boolean(),
    pin: z.boolean(),
    recall: z.boolean(),
    fold: z.union([
      z.boolean(),
      onlyFields({
        work: z.int().positive(),
        phi: share(),
        lambda: share(),
        minBatch: z.int().positive(),
        keepSteps: count(),
        indexTokens: count(),
        cap: z.int().positive(),
        leastRequests: count(),
      }).partial(),
    ]),
    stall: z.union([
      z.boolean(),
      onlyFields({
        rules: z.array(stallRuleSchema()).min(1, 'name a rule, or leave it out'),
        note: z.boolean(),
        revert: z.boolean(),
        pause: z.boolean(),
      }).partial(),
    ]),
    policies: z.array(z.custom<Policy>(isPolicy, 'make it with policy({ name, when, decide })')),
    lessons: z.boolean(),
  }).partial()

/**
 * Checks that folding can keep a request below its cap. Called once the callable agents are known, because they are part of every request.
 *
 * @throws RuntimeError `INVALID_DEFINITION`.
 */
export function checkFold(definition: AgentDefinition): void {
  const { name, braking } = definition
  if (braking?.fold == null) return
  // Read only now: it makes the tools of sub-agents, and without folding that waits until they are needed.
  const { frameTokens } = definition
  const { cap, work, indexTokens } = braking.fold
  const least = frameTokens + work + indexTokens
  if (cap >= least) return
  throw new RuntimeError(
    'INVALID_DEFINITION',
    `Agent ${JSON.stringify(name)}: braking.fold.cap: ${cap} tokens are too few for instructions and tools (${frameTokens}), work (${work}) and the index (${indexTokens}): give at least ${least}, or make work and indexTokens smaller.`,
  )
}

/** Returns true if the model has the tool `recall`. */
const offersRecall = (options: BrakingOptions = {}): boolean => (options.fold ?? false) !== false || asksRecall(options)

/** Returns true if the model has `recall` for more than folds, whose memos and index name every step that they hide. */
const asksRecall = ({ recall, policies = [] }: BrakingOptions = {}): boolean => recall ?? policies.length > 0

/** Returns true if the model has the tool `revert_to_state`. */
const offersRevert = ({ revert = false }: BrakingOptions = {}): boolean => revert !== false

function checkPolicies(policies: readonly Policy[], options: BrakingOptions, label: string): void {
  const names = new Set<string>()
  for (const { name, decide } of policies) {
    const wrong = (what: string): RuntimeError =>
      new RuntimeError('INVALID_DEFINITION', `${label}: braking.policies: "${name}" ${what}.`)
    if (names.has(name)) throw wrong('is there twice: give each a name of its own')
    names.add(name)
    if (decide.needs === 'brakeTools' && options.prune !== true && !offersRevert(options))
      throw wrong('asks the model to reshape its conversation, for which it has no tool: set prune or revert')
  }
}

/** Checks that `show` has hidden steps to show. @throws RuntimeError `INVALID_DEFINITION` */
function checkShow({ show, prune = false, fold = false, policies = [] }: BrakingOptions, label: string): void {
  if (show !== true || prune || fold !== false || policies.length > 0) return
  throw new RuntimeError(
    'INVALID_DEFINITION',
    `${label}: braking.show: nothing would be hidden: set prune, fold or policies, or leave show out.`,
  )
}

const usualReverts: RevertSettings = {
  ...defaultRevertPolicy,
  summaryModel: null,
  fidelity: 'normal',
  summaryTimeoutMs: 60_000,
  defer: 'never',
  ignoredTools: ignoredTools([]),
  undo: false,
}

/** Returns the revert settings of an agent; without any, the settings for reverts that people ask for. */
export const revertSettingsOf = ({ braking }: Pick<AgentDefinition, 'braking'>): RevertSettings =>
  braking?.revert ?? usualReverts

/** Returns the braking of an agent with the defaults filled in; `null` when all of it is off. */
function brakingOf(
  options: BrakingOptions | undefined,
  contextWindow: number,
  label: string,
): AgentDefinition['braking'] {
  const { revert = false, graft = false, prune = false, fold = false, stall = false } = options ?? {}
  const { policies = [], lessons = false, pin = false } = options ?? {}
  checkShow(options ?? {}, label)
  const hasRecall = offersRecall(options)
  const hasBrakes = revert !== false || graft || prune || pin || hasRecall || stall !== false || lessons
  const isOff = !hasBrakes && policies.length === 0
  if (isOff) return null
  checkPolicies(policies, options!, label)
  const given = typeof revert === 'object' ? withoutUndefined(revert) : {}
  const { summaryModel, fidelity, summaryTimeoutMs, maxRevertsPerTarget, onUserMessage, defer, undo } = given
  const ignored = ignoredTools([
    ...(hasRecall ? [recallName] : []),
    ...(graft ? [graftBrake.tool] : []),
    ...(pin ? [pinBrake.tool] : []),
    ...(options?.show === true ? [pruneBrake.showTool] : []),
  ])
  const settings: RevertSettings = {
    maxRevertsPerTarget: maxRevertsPerTarget ?? usualReverts.maxRevertsPerTarget,
    onUserMessage: onUserMessage ?? usualReverts.onUserMessage,
    summaryModel: summaryModel === undefined ? null : modelOf(summaryModel, label),
    fidelity: fidelity ?? usualReverts.fidelity,
    summaryTimeoutMs: summaryTimeoutMs ?? usualReverts.summaryTimeoutMs,
    defer: defer ?? usualReverts.defer,
    ignoredTools: ignored,
    undo: undo ?? usualReverts.undo,
  }
  const tags: TagPolicy = {
    lessonWindowTurns: given.lessonWindowTurns ?? defaultTagPolicy.lessonWindowTurns,
    lessonWindowCount: given.lessonWindowCount ?? defaultTagPolicy.lessonWindowCount,
    decay: given.decay ?? defaultTagPolicy.decay,
    maxCheckpoints: defaultTagPolicy.maxCheckpoints,
    maxCheckpointTokens: Math.round(contextWindow * 0.15),
  }
  const wanted = typeof fold === 'object' ? withoutUndefined(fold) : {}
  const { cap = Math.round(contextWindow * 0.7) } = wanted
  const indexTokens = Math.min(defaultFoldPolicy.indexTokens, Math.floor(cap / 10))
  const folding: FoldPolicy = { ...defaultFoldPolicy, cap, indexTokens, ...wanted }
  const stalls: StallSettings = {
    ...defaultStallPolicy,
    ...(typeof stall === 'object' ? withoutUndefined(stall) : {}),
    offersRevert: offersRevert(options),
  }
  const mayRevert = revert !== false || (stall !== false && stalls.revert) || policies.length > 0
  return {
    revert: mayRevert ? settings : null,
    graft,
    fold: fold === false ? null : folding,
    stall: stall === false ? null : stalls,
    policies: policies.length === 0 ? null : { list: policies, fold: folding, contextWindow },
    lessons: lessons ? { brakes: ignored } : null,
    tags,
    showsIds: prune || graft || pin || asksRecall(options) || offersRevert(options),
  }
}

/** The tools of the brakes, each with the condition for offering it and the function that makes it. */
const brakeTools: readonly {
  readonly name: string
  readonly isOffered: (options?: BrakingOptions) => boolean
  readonly make: (braking: NonNullable<AgentDefinition['braking']>) => Tool
}[] = [
  { name: 'revert_to_state', isOffered: offersRevert, make: ({ revert }) => revertTool(revert!) },
  { name: graftBrake.tool, isOffered: ({ graft } = {}) => graft === true, make: graftTool },
  { name: 'prun', isOffered: ({ prune } = {}) => prune === true, make: prunTool },
  { name: pruneBrake.showTool, isOffered: ({ show } = {}) => show === true, make: showTool },
  { name: pinBrake.tool, isOffered: ({ pin } = {}) => pin === true, make: pinTool },
  { name: recallName, isOffered: offersRecall, make: recallTool },
]

/** Returns the names of the tools that the brakes of a definition give its model. */
export const brakeNames = ({ braking }: BrakingOption): readonly string[] =>
  brakeTools.filter(({ isOffered }) => isOffered(braking)).map(({ name }) => name)

/** The part with everything that may reshape the conversation that the model sees. */
export const brakingPart = agentPart<BrakingOption, Pick<AgentDefinition, 'braking'>>({
  options: { braking: brakingSchema },
  settings: ({ braking, compaction }: BrakingOption & CompactionOption, label) => ({
    braking: brakingOf(braking, windowOf(compaction).contextWindow, label),
  }),
  tools: (options, { braking }) =>
    brakeTools.filter(({ isOffered }) => isOffered(options.braking)).map(({ make }) => make(braking!)),
  toolNames: brakeTools.map(({ name }) => name),
  flags: ({ braking: options }, { braking }) => ({
    revert: braking?.revert != null,
    // A person prunes an agent with any of these; the model needs the tool.
    prune:
      (braking?.revert ?? braking?.fold ?? braking?.stall ?? braking?.policies ?? null) !== null ||
      options?.prune === true,
    fold: braking?.fold != null,
    stall: braking?.stall != null,
    policies: braking?.policies != null,
  }),
  staysAtHandoff: 'braking',
})
