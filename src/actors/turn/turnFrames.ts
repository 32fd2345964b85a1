import { lastTurnNote } from '../../conversation/request/lastTurnNote.ts'
import type { ModelSettings, ToolSpec } from '../../protocol/ports/model.ts'
import type { LogRecord, RecordOf } from '../../protocol/records.ts'
import type { ModelUse } from '../../protocol/bridge/turns.ts'
import type { AgentDefinition } from '../define/agentDefinition.ts'
import { foundSpecs } from '../parts/deferred/foundSpecs.ts'
import { priceOf } from './pricing.ts'
import { systemOf, withAddendum, withPossibleChoice } from './modelSettings.ts'
import type { PricedModel } from './turnOptions.ts'

/** The parts of a turn's requests beside the conversation. A definition is one: the frame of turns that no code has prepared. */
export interface TurnFrame extends Pick<
  AgentDefinition,
  'model' | 'settings' | 'system' | 'toolSpecs' | 'frameTokens' | 'pricing' | 'prices'
> {
  /** Note to the model after the conversation. */
  readonly note?: string
}

/** The parts of a decision that cannot be recorded: a model, and options that may hold secrets. */
export interface LiveDecision {
  readonly turnIndex: number
  readonly model: PricedModel | undefined
  readonly providerOptions: ModelSettings['providerOptions']
}

/** Holder of the models that were given to `agent.use`, by id. */
export interface Lender {
  readonly lent: ReadonlyMap<string, PricedModel> | undefined
}

/** State of an agent's frames that is kept. */
export interface KeptFrames {
  readonly instructions?: string | undefined
  readonly prepared?: RecordOf<'turn.prepared'> | undefined
}

/** The frames of one agent's turns, from its records. */
export class TurnFrames {
  readonly #agent: { readonly definition: AgentDefinition }
  readonly #lender: Lender
  /** The latest instructions in the log. */
  #instructions: string | undefined
  #current: TurnFrame
  /** The last frame and its source. It is reused while the source is the same. */
  #made: { readonly of: readonly unknown[]; readonly frame: TurnFrame } | undefined
  #live: LiveDecision | undefined
  /** Record from which the current frame was made; `undefined` if it was made from the definition alone. */
  #preparedBy: RecordOf<'turn.prepared'> | undefined

  constructor(agent: { readonly definition: AgentDefinition }, lender: Lender) {
    this.#agent = agent
    this.#lender = lender
    this.#current = agent.definition
  }

  /** The agent's definition, which changes when it hands its conversation over. */
  get #definition(): AgentDefinition {
    return this.#agent.definition
  }

  /** Frame of the current turn; between turns, of the last one. */
  get current(): TurnFrame {
    return this.#current
  }

  /** Returns the state as plain JSON. */
  keep(): KeptFrames {
    return { instructions: this.#instructions, prepared: this.#preparedBy }
  }

  /** Restores a state that was kept. */
  restore({ instructions, prepared }: KeptFrames): void {
    if (prepared !== undefined) this.apply(prepared)
    this.#instructions = instructions
  }

  /** Keeps the parts of a decision that the next `turn.prepared` cannot hold. */
  decided(live: LiveDecision): void {
    this.#live = live
  }

  /** Returns the named model; `undefined` if it is not known here. */
  modelOf(use: ModelUse): PricedModel | undefined {
    return modelIn(this.#definition, this.#lender.lent, use)
  }

  apply(record: LogRecord): void {
    switch (record.type) {
      case 'turn.start':
      case 'tools.changed':
        this.#begin()
        return
      case 'use.changed':
        this.#instructions = record.use?.instructions ?? this.#instructions
        return
      case 'turn.prepared':
        this.#instructions = record.instructions ?? this.#instructions
        this.#current = this.#prepared(record)
        this.#preparedBy =
          this.#instructions === undefined || record.sameInstructions !== true
            ? record
            : { ...record, instructions: this.#instructions }
        return
      case 'agent.created':
        // A fork made for another agent's model.
        if (record.parent !== undefined) this.#instructions = undefined
        this.#begin()
        return
      default:
    }
  }

  #begin(): void {
    this.#current = this.#definition
    this.#preparedBy = undefined
  }

  #prepared(record: RecordOf<'turn.prepared'>): TurnFrame {
    const live = this.#live?.turnIndex === record.turnIndex ? this.#live : undefined
    const given = record.instructions ?? (record.sameInstructions === true ? this.#instructions : undefined)
    const model = live?.model ?? (record.model === undefined ? undefined : this.modelOf(record.model))
    const { tools, settings, limit } = record
    const key = JSON.stringify([given, tools, settings, limit])
    const of = [key, this.#definition, model?.model, model?.pricing, live?.providerOptions]
    const before = this.#made
    if (before?.of.every((part, index) => part === of[index]) === true) return before.frame
    const frame = frameOf(this.#definition, { instructions: given, tools, model, live, record })
    this.#made = { of, frame }
    return frame
  }
}

/** Returns a model by its name in the definition or by its id, or the definition's own. */
export function modelIn(
  { model, pricing, turns: { models } }: AgentDefinition,
  lent: Lender['lent'],
  { id, name }: ModelUse,
): PricedModel | undefined {
  const named = name === undefined ? undefined : models.get(name)
  if (named !== undefined) return named
  return (
    lent?.get(id) ??
    [...models.values()].find((one) => one.model.id === id) ??
    (id === model.id ? { model, pricing } : undefined)
  )
}

interface FrameParts {
  readonly instructions: string | undefined
  readonly tools: readonly string[] | undefined
  readonly model: PricedModel | undefined
  readonly live: LiveDecision | undefined
  readonly record: RecordOf<'turn.prepared'>
}

function frameOf(definition: AgentDefinition, parts: FrameParts): TurnFrame {
  const { instructions, tools, model, live, record } = parts
  const toolSpecs = tools === undefined ? definition.toolSpecs : offered(definition, tools)
  const settings = withPossibleChoice(
    { ...definition.settings, ...record.settings },
    toolSpecs.map(({ name }) => name),
  )
  const system = instructions === undefined ? definition.system : systemFor(definition, instructions)
  const isSame = system === definition.system && toolSpecs === definition.toolSpecs
  return {
    model: model?.model ?? definition.model,
    ...pricesFor(definition, model),
    settings: live?.providerOptions === undefined ? settings : withOptions(settings, live.providerOptions),
    system,
    toolSpecs,
    frameTokens: isSame ? definition.frameTokens : tokensOf(definition, system, toolSpecs),
    ...(record.limit === undefined ? {} : { note: lastTurnNote(record.limit) }),
  }
}

/** Returns the model's own prices, or those that the definition has for it. */
function pricesFor(definition: AgentDefinition, model: PricedModel | undefined): Pick<TurnFrame, 'pricing' | 'prices'> {
  const { pricing, prices } = definition
  if (model === undefined || model.model === definition.model) return { pricing, prices }
  if (model.pricing !== null) return { pricing: model.pricing, prices: null }
  return prices === null ? { pricing: null, prices } : { pricing: priceOf(definition, model.model.id), prices }
}

const tokensOf = ({ counter }: AgentDefinition, system: string, tools: readonly ToolSpec[]): number =>
  counter.text(system) + (tools.length === 0 ? 0 : counter.text(JSON.stringify(tools)))

const systemFor = ({ settings, addendum }: AgentDefinition, instructions: string): string =>
  withAddendum(systemOf(instructions, settings), addendum)

/** Returns tools in the order of the definition, so that the same tools give the same bytes. */
function offered(definition: AgentDefinition, names: readonly string[]): readonly ToolSpec[] {
  const wanted = new Set(names)
  const { toolSpecs } = definition
  const listed = foundSpecs(definition).filter(({ name }) => wanted.has(name))
  if (listed.length === 0 && toolSpecs.every(({ name }) => wanted.has(name))) return toolSpecs
  return [...toolSpecs.filter(({ name }) => wanted.has(name)), ...listed]
}

const withOptions = (
  settings: ModelSettings,
  providerOptions: NonNullable<ModelSettings['providerOptions']>,
): ModelSettings => ({ ...settings, providerOptions: { ...settings.providerOptions, ...providerOptions } })
