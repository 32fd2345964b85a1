import type { AnyModel } from '../../../src/actors/models/anyModel.ts'
import { z } from 'zod'
import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import type { Memory } from '../../../src/protocol/ports/memory.ts'
import type { AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import type { BrakingOptions } from '../../../src/actors/define/brakingOptions.ts'
import type { CompactionOptions } from '../../../src/actors/define/compactionOptions.ts'
import { heuristicStrategy } from '../../../src/actors/brakes/compaction/summariseSpan.ts'
import { llmStrategy } from './llmStrategy.ts'
import { checkOptions } from './choice.ts'
import { decide } from './decide.ts'
import { keep } from './keep.ts'
import type { ArchivePort } from './keepArchive.ts'
import type { Embed } from './leastRelevant.ts'
import type { ReviewOptions } from './reviewer.ts'
import { policy, type Decider, type Keeper, type Trigger } from '../../../src/actors/define/policy.ts'
import { heuristicScorer, type StepScorer } from './scorers.ts'
import { when } from './when.ts'

/** Options of `defineAgent`: spread them into yours. */
export interface Composition {
  readonly braking: BrakingOptions
  readonly compaction: CompactionOptions
}

export interface CompositionOptions {
  /** Context window of the agent's model, in tokens; default 200,000. All sizes are shares of it. */
  readonly contextWindow?: number
}

export interface SizedOptions extends CompositionOptions {
  /** Share of the window above which steps are hidden. Default .5. */
  readonly over?: number
}

export interface LayeredOptions extends SizedOptions {
  /** Model that writes the summaries; default: the agent's own. */
  readonly model?: AnyModel
  /** Memory that also stores everything worth remembering, as `keep.memory` does. */
  readonly memory?: Memory
  /** Subject, in words, that the summaries must preserve above all. */
  readonly focus?: string
}

export interface ReviewedOptions extends SizedOptions {
  /** An agent of yours that reviews, in place of the built-in one. */
  readonly reviewer?: AgentDefinition
  /** Model of the built-in reviewer. Default: the agent's own. */
  readonly model?: AnyModel
  /** A folder, or a port, that receives the session before anything is hidden. */
  readonly archive?: string | ArchivePort
}

export interface ScoredCompositionOptions extends CompositionOptions {
  /** Default `heuristicScorer`, which calls no model. */
  readonly scorer?: StepScorer
  /** Threshold for the average score of the last steps, below which the policy acts. Default .2, the score of a look that showed nothing new. */
  readonly below?: number
  /** Keeper of the hidden steps; default a line for each. */
  readonly keep?: Keeper
}

export interface PinnedOptions extends CompositionOptions {
  /** Number of newest steps that stay without a pin. Default 10. */
  readonly keepSteps?: number
}

export interface RetrievalOptions extends SizedOptions {
  /** Compares by meaning; default: by the words and names that texts share. */
  readonly embed?: Embed
}

/** Minimum turns between two plans of a policy, because each plan makes the provider's cache write a part anew. */
const turnsBetween = 10
/** Shares of the window: above the first, hiding is worthwhile. Above the second, the conversation is large. */
const [worthwhile, large] = [0.1, 0.5]
const share = z.number().gt(0).lt(1).optional()
const contextWindow = z.int().positive().optional()
const anything = z.unknown().optional()

const schemas = {
  baseline: onlyFields({ contextWindow }),
  layered: onlyFields({ contextWindow, over: share, model: anything, memory: anything, focus: anything }),
  reviewed: onlyFields({ contextWindow, over: share, reviewer: anything, model: anything, archive: anything }).refine(
    ({ reviewer, model }) => reviewer === undefined || model === undefined,
    {
      message: 'give reviewer or model, not both: a reviewer of yours has a model',
    },
  ),
  scored: onlyFields({ contextWindow, scorer: anything, below: anything, keep: anything }),
  pinned: onlyFields({ contextWindow, keepSteps: z.int().nonnegative().optional() }),
  retrieval: onlyFields({ contextWindow, over: share, embed: anything }),
}

const check = (name: string, schema: z.ZodType, options: unknown): void =>
  checkOptions(`compositions.${name}`, schema, options)

const windowOf = (options: CompositionOptions): CompactionOptions =>
  options.contextWindow === undefined ? {} : { contextWindow: options.contextWindow }

/** Fires at most every few turns, so that the gain is worth the part of the cache that is written anew. */
const nowAndThen = (...triggers: readonly Trigger[]): Trigger =>
  when.allOf(when.everyTurns(turnsBetween), when.anyOf(...triggers))

const tooLarge = ({ over = large }: SizedOptions): Trigger => when.tokensOver({ share: over })

/**
 * No policy: a compaction at the threshold, whose summary is computed. It costs no model call and keeps least of everything that is needed
 * later. It is the one that the others are compared with, and enough where the window is hardly ever filled.
 *
 * @throws RuntimeError `INVALID_OPTION`, as all of them.
 */
function baseline(options: CompositionOptions = {}): Composition {
  check('baseline', schemas.baseline, options)
  return { braking: {}, compaction: { ...windowOf(options), strategy: heuristicStrategy } }
}

/**
 * At half the window a model condenses the older half; with `memory`, everything worth remembering is stored there too. Memos that pile up
 * are condensed again by a compaction that the model writes. For long work of one piece, where a summary reads better than the parts.
 */
function layered(options: LayeredOptions = {}): Composition {
  check('layered', schemas.layered, options)
  const { model, memory, focus } = options
  const words = focus === undefined ? {} : { focus }
  const summary = keep.summary(model, words)
  return {
    braking: {
      policies: [
        policy({
          name: 'layered',
          when: nowAndThen(tooLarge(options)),
          decide: decide.oldest(),
          keep: memory === undefined ? summary : storing(memory, summary),
          timeoutMs: 120_000,
        }),
      ],
    },
    compaction: {
      ...windowOf(options),
      strategy: llmStrategy({ ...(model === undefined ? {} : { model }), ...words }),
    },
  }
}

/** Returns a keeper that does the work of `written` after storing everything worth remembering in the memory. */
function storing(memory: Memory, written: Keeper): Keeper {
  const stored = keep.memory(memory)
  return Object.freeze<Keeper>({
    name: `${written.name} and ${stored.name}`,
    async keep(part, at) {
      const kept = await written.keep(part, at)
      await stored.keep(part, at)
      return kept
    },
  })
}

function reviewing({ reviewer, model }: ReviewedOptions, bounds: ReviewOptions): Decider {
  if (reviewer !== undefined) return decide.reviewer(reviewer, bounds)
  return decide.reviewer(model === undefined ? bounds : { ...bounds, model })
}

/** Returns a policy whose reviewer chooses the steps. A review takes minutes. */
const reviewedPolicy = (name: string, trigger: Trigger, options: ReviewedOptions, bounds: ReviewOptions = {}) =>
  policy({
    name,
    when: trigger,
    decide: reviewing(options, bounds),
    keep: options.archive === undefined ? keep.notes() : keep.archive(options.archive),
    timeoutMs: 300_000,
  })

/**
 * At half the window an agent that leaves no trace reads the conversation and says which steps are no longer needed. For work in which a
 * wrong step out of sight costs more than a review: several requests each time.
 */
function reviewed(options: ReviewedOptions = {}): Composition {
  check('reviewed', schemas.reviewed, options)
  const policies = [reviewedPolicy('reviewed', nowAndThen(tooLarge(options)), options, { mostReverted: 0 })]
  return { braking: { policies }, compaction: windowOf(options) }
}

/**
 * When the last steps brought little, or the agent goes in circles, the half that was worth least is hidden, whether or not the conversation is
 * large. For agents that try things out: what led nowhere does not crowd the view. While the work goes well it hides nothing: then the
 * compaction keeps requests small.
 */
function scored(options: ScoredCompositionOptions = {}): Composition {
  check('scored', schemas.scored, options)
  const { scorer = heuristicScorer, below = 0.2, keep: keeper = keep.notes() } = options
  const policies = [
    policy({
      name: 'scored',
      when: when.allOf(
        when.tokensOver({ share: worthwhile }),
        nowAndThen(when.stalled(), when.valueBelow(scorer, { below })),
      ),
      decide: decide.scored(scorer, { keepSteps: 3 }),
      keep: keeper,
    }),
  ]
  return { braking: { policies }, compaction: windowOf(options) }
}

/**
 * As `reviewed`, and also as soon as the agent goes in circles; the reviewer may take a dead end back. The dearest of them, for work whose quality
 * matters most.
 */
function hybrid(options: ReviewedOptions = {}): Composition {
  check('hybrid', schemas.reviewed, options)
  const policies = [reviewedPolicy('hybrid', nowAndThen(tooLarge(options), when.stalled()), options)]
  return { braking: { policies }, compaction: windowOf(options) }
}

/**
 * Whenever the agent rests, and every few turns, everything leaves its sight but the newest steps and those that are pinned, by you
 * (`agent.pin`) or by a person. For an assistant with many short tasks, where little matters for long and you know what does.
 */
function pinned(options: PinnedOptions = {}): Composition {
  check('pinned', schemas.pinned, options)
  const { keepSteps = 10 } = options
  const policies = [
    policy({
      name: 'pinned',
      when: when.anyOf(when.whileIdle(), when.everyTurns(2 * turnsBetween)),
      decide: decide.oldest({ downTo: 1, keepSteps }),
      keep: keep.rollUp(),
    }),
  ]
  return { braking: { policies }, compaction: windowOf(options) }
}

/**
 * At half the window, the steps leave that have least to do with what is asked now; `recall` brings them back. For agents that come back to old
 * subjects: questions about many documents, support.
 */
function retrieval(options: RetrievalOptions = {}): Composition {
  check('retrieval', schemas.retrieval, options)
  const { embed } = options
  const policies = [
    policy({
      name: 'retrieval',
      when: nowAndThen(tooLarge(options)),
      decide: decide.leastRelevant(undefined, embed === undefined ? {} : { embed }),
      keep: keep.notes(),
    }),
  ]
  return { braking: { policies }, compaction: windowOf(options) }
}

/**
 * No policy: the model itself reverts dead ends and condenses finished work. If it goes in circles, the runtime warns it, then reverts the loop, then
 * pauses the run. For trial and error, with a model that can judge its own work.
 */
function typedReverts(options: CompositionOptions = {}): Composition {
  check('typedReverts', schemas.baseline, options)
  return { braking: { revert: { decay: 'lazy' }, stall: true }, compaction: windowOf(options) }
}

/** Whole ways to keep a conversation small, by name: `defineAgent({ ...compositions.layered({ model }), name, … })`. */
export const compositions = Object.freeze({
  baseline,
  layered,
  reviewed,
  scored,
  hybrid,
  pinned,
  retrieval,
  typedReverts,
})
