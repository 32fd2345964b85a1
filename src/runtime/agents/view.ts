import type { AgentDefinition } from '../../actors/define/agentDefinition.ts'
import { handedTo } from '../../actors/define/handoffs.ts'
import type { PricedModel } from '../../actors/turn/turnOptions.ts'
import { Conversation } from '../../conversation/tree/conversation.ts'
import { rebuildConversation } from '../../conversation/tree/rebuildConversation.ts'
import { Folding } from '../../log/fold.ts'
import { outlineFold, type Outline } from '../../log/outline.ts'
import { requestsFold } from '../../log/requestIndex.ts'
import type { Redactor } from '../../protocol/ports/redactor.ts'
import { addSpent, spentFold } from '../../log/spent.ts'
import type { AgentContext, FrameState } from '../../machines/agentTypes.ts'
import type { LogRecord, Spent } from '../../protocol/records.ts'
import type { SourceInfo } from '../../protocol/toolsChange.ts'
import { checkState } from './agentState.ts'
import type { KeptHost } from './checkpointKeeper.ts'
import { handoffsFold, type Handoffs } from './handoffs.ts'
import { hostFolds, countedBy, type KeptAsking, type OpenedLog } from './keptAgent.ts'
import { hostedTools, type HostedTools } from './hostedTools.ts'
import { addNodes, keepNodes } from './keepNodes.ts'
import type { Sources } from './sources.ts'
import type { AgentPorts } from '../../actors/agentPorts.ts'
import { LeftBehind } from '../../actors/parts/memory/leftBehind.ts'
import { modelIn, TurnFrames, type Lender, type LiveDecision, type TurnFrame } from '../../actors/turn/turnFrames.ts'
import {
  RequestAssembler,
  type AssembledRequest,
  type RequestFrame,
} from '../../conversation/request/assembleRequest.ts'
import type { History } from '../../log/readHistory.ts'
import type { ModelUse } from '../../protocol/bridge/turns.ts'

/** The agent that the log belongs to. */
interface ViewOwner {
  /** The definition that the agent was created with. */
  readonly ownDefinition: AgentDefinition
  /** Models that code gave the agent to use, by id. */
  readonly lent: ReadonlyMap<string, PricedModel> | undefined
  readonly shared: { readonly sources: Sources }
  readonly machine: { readonly run: AgentContext['run'] | undefined }
}

type Past = Pick<OpenedLog, 'past' | 'records'> & { readonly base?: OpenedLog['base'] | undefined }

const nobody: readonly never[] = Object.freeze([])
const noConversation = new Conversation()

/** An agent as its log states it: the conversation, and everything else folded from it. Reduced while the agent is unloaded. */
export class View {
  readonly #owner: ViewOwner
  /** Set while the agent is loaded. */
  readonly #folds!: Folding
  /** Facts kept while the agent is unloaded, which its requests are not. */
  readonly #last: { readonly outline: Outline; readonly lifetime: Spent; readonly handoffs: Handoffs } | undefined
  readonly conversation: Conversation
  /** Set while the agent is loaded. */
  readonly requests!: TurnRequests
  /** The agent's tools from sources, if it has any. */
  readonly sourced: HostedTools | undefined
  /** Last state of the tool sources, while the agent is unloaded. */
  readonly #lastSources: readonly SourceInfo[] | undefined
  /** `seq` of the last record. */
  lastSeq: number

  /** Makes a view of `from`: the log so far, or the view of a loaded agent that is being unloaded, of which little is kept. */
  constructor(owner: ViewOwner, from: Past | View) {
    this.#owner = owner
    if (from instanceof View) {
      const { outline, lifetime, handoffs } = from
      this.#last = { outline, lifetime, handoffs }
      this.conversation = noConversation
      const sources = from.sources.map(({ source, tools }) => ({ source, state: 'idle', tools }) as const)
      this.#lastSources = sources.length === 0 ? nobody : sources
      this.lastSeq = from.lastSeq
      return
    }
    const { ownDefinition, shared } = owner
    const { past, records, base } = from
    this.conversation = base?.conversation ?? rebuildConversation(records, { counter: ownDefinition.counter, past })
    this.lastSeq = this.conversation.lastSeq
    this.#folds = base?.folds ?? new Folding(hostFolds)
    if (base === undefined) for (const part of [past, records]) for (const record of part) this.#folds.apply(record)
    // A log that names one which the definition does not lead to is refused before anything is opened.
    const active = (): AgentDefinition => handedTo(ownDefinition, this.active)
    active()
    checkState(ownDefinition, this.conversation)
    this.sourced = hostedTools(ownDefinition, shared.sources, active, this.#folds)
    this.requests = new TurnRequests(this, from, base?.kept.asking)
  }

  /**
   * Folds the records of one step, except into the requests. A record that does not follow changes nothing, and neither do those after it.
   *
   * @throws RuntimeError `LOG_CORRUPT`
   */
  take(records: readonly LogRecord[]): void {
    try {
      for (const record of records) {
        this.conversation.apply(record)
        this.lastSeq = record.seq
      }
    } finally {
      for (const record of records) if (record.seq <= this.lastSeq) this.#folds.apply(record)
    }
  }

  /** Returns the states folded from the log, in the form of a checkpoint. `goesOn`: it shares state with the opened checkpoint. */
  keep(goesOn = false): ReturnType<KeptHost['view']['keep']> {
    const kept = {
      counted: countedBy(this.#owner.ownDefinition.counter),
      conversation: this.conversation.keep(),
      asking: this.requests.keep(),
      folds: this.#folds.keep(),
    }
    return { kept, nodes: goesOn ? addNodes(this.conversation) : keepNodes(this.conversation) }
  }

  /** The definition that answers. */
  get definition(): AgentDefinition {
    if (this.sourced !== undefined) return this.sourced.definition
    const { ownDefinition } = this.#owner
    const { name } = this.handoffs
    // Most are never handed over.
    return name === undefined ? ownDefinition : handedTo(ownDefinition, name)
  }

  /** Name of the definition that answers. */
  get active(): string {
    return this.handoffs.name ?? this.#owner.ownDefinition.name
  }

  get handoffs(): Handoffs {
    return this.#last?.handoffs ?? this.#folds.stateOf(handoffsFold)
  }

  /** Outline of the log. */
  get outline(): Outline {
    return this.#last?.outline ?? this.#folds.stateOf(outlineFold)
  }

  /** The ids of requests that the log contains. Not to be held, because a fork has others once its own log begins. */
  get asked(): { has(requestId: string): boolean } {
    return this.#folds.stateOf(requestsFold).ids
  }

  /** Usage of the agent in its lifetime, including its sub-agents. */
  get spent(): Spent {
    const { run } = this.#owner.machine
    // Turns of sub-agents are counted as their calls end.
    return run == null ? this.lifetime : addSpent(this.lifetime, run)
  }

  /** The same as `spent`, without the current run. */
  private get lifetime(): Spent {
    return this.#last?.lifetime ?? this.#folds.stateOf(spentFold).spent
  }

  /** State of the agent's tool sources. */
  get sources(): readonly SourceInfo[] {
    return this.#lastSources ?? this.sourced?.sources ?? nobody
  }

  get lent(): ViewOwner['lent'] {
    return this.#owner.lent
  }

  get redactor(): Redactor | undefined {
    return this.#owner.shared.sources.redactor
  }
}

/** The agent that makes the requests; `lent`: models that code gave it to use, by id. */
type Asking = Pick<AgentPorts, 'definition' | 'conversation' | 'redactor'> & Lender

/** Builds the requests of one agent from its conversation and the frame of each turn. */
export class TurnRequests {
  readonly #agent: Asking
  /** The model that the agent was to use, and that is not known in this process. */
  missing: ModelUse | undefined
  /** Part of the log that is still to be searched for the agent's memory. */
  leftBehind: LeftBehind | undefined
  #assembler: RequestAssembler | undefined
  /** Frame that the assembler uses. */
  #assembled: TurnFrame | undefined
  /** Frames of turns; made once anything but the definition affects them. */
  #frames: TurnFrames | undefined

  /** Folds the records so far. `kept`: the state from which the records continue. */
  constructor(agent: Asking, { past, records }: Pick<History, 'past' | 'records'>, kept?: KeptAsking) {
    this.#agent = agent
    if (kept?.frames !== undefined) this.#prepared.restore(kept.frames)
    if (kept?.left !== undefined) this.leftBehind = new LeftBehind(kept.left)
    this.apply(past)
    this.apply(records)
  }

  /** Returns the state as plain JSON. */
  keep(): KeptAsking {
    const isLeft = this.#agent.definition.memory?.extract != null
    return { frames: this.#frames?.keep(), left: this.leftBehind?.items ?? (isLeft ? [] : undefined) }
  }

  /** Frame of the current turn; between turns, of the last one. */
  get frame(): TurnFrame {
    return this.#frames?.current ?? this.#agent.definition
  }

  /** Folds the next records. */
  apply(records: readonly LogRecord[]): void {
    const isLeft = this.#agent.definition.memory?.extract != null
    for (const record of records) {
      if (isLeft) (this.leftBehind ??= new LeftBehind()).apply(record)
      if (this.#frames !== undefined || record.type === 'turn.prepared' || record.type === 'use.changed')
        this.#prepared.apply(record)
    }
  }

  decided(live: LiveDecision): void {
    this.#prepared.decided(live)
  }

  get #prepared(): TurnFrames {
    return (this.#frames ??= new TurnFrames(this.#agent, this.#agent))
  }

  /** Returns the frame with which a restored agent continues. Leaves out its model if that is not known here. */
  restored(frame: FrameState | null): FrameState | null {
    const model = frame?.use?.model
    if (frame === null || model === undefined) return frame
    const { model: _, ...use } = frame.use!
    const known = modelIn(this.#agent.definition, this.#agent.lent, model)
    if (known !== undefined) return { ...frame, use: { ...use, model: { ...model, id: known.model.id } } }
    this.missing = model
    return { ...frame, use: Object.keys(use).length === 0 ? null : use }
  }

  assemble(turnIndex: number): AssembledRequest {
    const { conversation, definition, redactor } = this.#agent
    const { frame } = this
    if (this.#assembler === undefined)
      this.#assembler = new RequestAssembler(conversation, requestFrame(frame, definition, redactor))
    else if (frame !== this.#assembled) this.#assembler.reframe(requestFrame(frame, definition, redactor))
    this.#assembled = frame
    const before = this.#assembler.shownTags
    const assembled = this.#assembler.assemble(turnIndex, frame.note)
    const { shownTags } = this.#assembler
    if (shownTags !== undefined && shownTags !== before) conversation.showTags(shownTags)
    return assembled
  }
}

/** Returns the parts of a turn's requests other than the conversation, redacted. */
const requestFrame = (
  { system, toolSpecs, settings }: TurnFrame,
  { braking }: AgentDefinition,
  redactor: Redactor | undefined,
): RequestFrame => ({
  system: redactor?.text(system) ?? system,
  tools: redactor?.value(toolSpecs) ?? toolSpecs,
  settings,
  ...(braking === null ? {} : { braking: braking.tags, withoutIds: !braking.showsIds }),
})
