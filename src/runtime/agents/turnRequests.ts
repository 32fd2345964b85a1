import type { AgentPorts } from '../../actors/agentPorts.ts'
import { LeftBehind, type Left } from '../../actors/parts/memory/leftBehind.ts'
import {
  modelIn,
  TurnFrames,
  type KeptFrames,
  type Lender,
  type LiveDecision,
  type TurnFrame,
} from '../../actors/turn/turnFrames.ts'
import type { AgentDefinition } from '../../actors/define/agentDefinition.ts'
import {
  RequestAssembler,
  type AssembledRequest,
  type RequestFrame,
} from '../../conversation/request/assembleRequest.ts'
import type { FrameState } from '../../machines/agentTypes.ts'
import type { History } from '../../log/readHistory.ts'
import type { Redactor } from '../../log/redaction/redactor.ts'
import type { LogRecord } from '../../protocol/records.ts'
import type { ModelUse } from '../../protocol/bridge/turns.ts'

/** The agent that asks; `lent`: models that code gave it to use, by id. */
type Asking = Pick<AgentPorts, 'definition' | 'conversation' | 'redactor'> & Lender

/** Stored form of an agent's frames and memory items. */
export interface KeptAsking {
  readonly frames?: KeptFrames | undefined
  /** Missing where it was not followed. */
  readonly left?: readonly Left[] | undefined
}

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
  /** Frames of turns; made when anything but the definition has a say. */
  #frames: TurnFrames | undefined

  /** `kept`: the state from which the records continue. */
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

  /** Takes the next records. */
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

  /** Returns the frame that an agent continues with from its log, as far as its model is known here. */
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

/** Parts of a turn's requests beside the conversation, redacted. */
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
