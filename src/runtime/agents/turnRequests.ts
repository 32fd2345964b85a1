import type { AgentPorts } from '../../actors/agentPorts.ts'
import { LeftBehind, type Left } from '../../actors/parts/memory/leftBehind.ts'
import {
  modelIn,
  TurnFrames,
  type KeptFrames,
  type LiveDecision,
  type TurnFrame,
} from '../../actors/turn/turnFrames.ts'
import type { PricedModel } from '../../actors/turn/turnOptions.ts'
import { RequestAssembler, type AssembledRequest } from '../../conversation/request/assembleRequest.ts'
import type { FrameState } from '../../machines/agentTypes.ts'
import type { History } from '../../log/readHistory.ts'
import { requestFrame } from './requestFrame.ts'
import type { LogRecord } from '../../protocol/records.ts'
import type { ModelUse } from '../../protocol/bridge/turns.ts'

type Asking = Pick<AgentPorts, 'definition' | 'conversation' | 'redactor'>

/** Stored form of an agent's frames and memory items. */
export interface KeptAsking {
  readonly frames?: KeptFrames | undefined
  /** Missing where it was not followed. */
  readonly left?: readonly Left[] | undefined
}

/** Builds the requests of one agent from its conversation and the frame of each turn. */
export class TurnRequests {
  readonly #agent: Asking
  /** Models that code gave the agent to use, by id. */
  lent: Map<string, PricedModel> | undefined
  /** The model that the agent was to use, and that is not known in this process. */
  missing: ModelUse | undefined
  /** Part of the log that is still to be searched for the agent's memory. */
  leftBehind: LeftBehind | undefined
  #assembler: RequestAssembler | undefined
  /** Frame that the assembler uses. */
  #assembled: TurnFrame | undefined
  /** Frames of turns; made when anything but the definition has a say. */
  #frames: TurnFrames | undefined

  /** `kept`: the state from which the records continue. */
  constructor(
    agent: Asking,
    { past, records }: Pick<History, 'past' | 'records'>,
    {
      lent,
      kept,
    }: { readonly lent?: Map<string, PricedModel> | undefined; readonly kept?: KeptAsking | undefined } = {},
  ) {
    this.#agent = agent
    this.lent = lent
    if (kept?.frames !== undefined) this.#prepared.restore(kept.frames)
    if (kept?.left !== undefined) this.leftBehind = new LeftBehind(kept.left)
    for (const record of past) this.apply(record)
    for (const record of records) this.apply(record)
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

  /** Takes the next record. */
  apply(record: LogRecord): void {
    if (this.#agent.definition.memory?.extract != null) (this.leftBehind ??= new LeftBehind()).apply(record)
    if (this.#frames === undefined && record.type !== 'turn.prepared' && record.type !== 'use.changed') return
    this.#prepared.apply(record)
  }

  lend(model: PricedModel): void {
    this.lent ??= new Map()
    this.lent.set(model.model.id, model)
  }

  decided(live: LiveDecision): void {
    this.#prepared.decided(live)
  }

  get #prepared(): TurnFrames {
    return (this.#frames ??= new TurnFrames(this.#agent, this))
  }

  /** Returns the frame that an agent continues with from its log, as far as its model is known here. */
  restored(frame: FrameState | null): FrameState | null {
    const model = frame?.use?.model
    if (frame === null || model === undefined) return frame
    const { model: _, ...use } = frame.use!
    const known = modelIn(this.#agent.definition, this.lent, model)
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
