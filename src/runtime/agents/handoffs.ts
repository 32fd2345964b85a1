import type { AgentDefinition } from '../../actors/agentDefinition.ts'
import { handedTo } from '../../actors/handoffs.ts'
import { toolCallsOf } from '../../protocol/messages.ts'
import type { LogRecord } from '../../protocol/records.ts'

/** What is kept of them. */
export interface KeptHandoffs {
  readonly name: string
  readonly pending?: string | undefined
  readonly open: number
  readonly endsUse: boolean
}

/** Who answers in the conversation of one agent, from its records: whoever it was handed to, from the end of that step on. */
export class Handoffs {
  readonly #own: AgentDefinition
  #active: AgentDefinition
  #name: string
  #pending: string | undefined
  /** Calls of the last reply without a result. */
  #open = 0
  #endsUse = false

  /** `kept`: where the records go on from. @throws RuntimeError `INVALID_DEFINITION`: the log names one that the definition does not lead to. */
  constructor(own: AgentDefinition, kept: KeptHandoffs | undefined, ...logs: readonly (readonly LogRecord[])[]) {
    this.#own = own
    this.#active = own
    this.#name = kept?.name ?? own.name
    this.#pending = kept?.pending
    this.#open = kept?.open ?? 0
    this.#endsUse = kept?.endsUse ?? false
    for (const records of logs) for (const record of records) this.#note(record)
    this.#active = handedTo(own, this.#name)
  }

  /** As plain JSON. */
  keep(): KeptHandoffs {
    return { name: this.#name, pending: this.#pending, open: this.#open, endsUse: this.#endsUse }
  }

  /** What the agent is now. */
  get definition(): AgentDefinition {
    return this.#active
  }

  /** Name of the definition that answers. */
  get name(): string {
    return this.#name
  }

  /** Who will, once the step under way has ended. */
  get pending(): string | undefined {
    return this.#pending
  }

  /** What `agent.use` said was said of one who answered before. */
  get endsUse(): boolean {
    return this.#endsUse
  }

  apply(record: LogRecord): void {
    const before = this.#name
    this.#note(record)
    if (this.#name !== before) this.#active = handedTo(this.#own, this.#name)
  }

  #note(record: LogRecord): void {
    if (record.type === 'reply.end') this.#open = toolCallsOf(record.message.content).length
    else if (record.type === 'tool.end') {
      this.#open -= 1
      this.#pending = record.handoff ?? this.#pending
      if (this.#open > 0 || this.#pending === undefined) return
      this.#name = this.#pending
      this.#pending = undefined
      this.#endsUse = true
    } else if (record.type === 'use.changed') this.#endsUse = false
    else if (record.type === 'agent.created') {
      this.#open = 0
      this.#pending = undefined
      // A sub-agent that knows its caller's conversation is another agent.
      if (record.parent !== undefined) this.#name = this.#own.name
    }
  }
}

/** `undefined` for an agent that never hands its conversation over. Throws as the constructor does. */
export const handoffsIn = (
  definition: AgentDefinition,
  kept: KeptHandoffs | undefined,
  ...logs: readonly (readonly LogRecord[])[]
): Handoffs | undefined =>
  definition.handoffs.size > 0 || kept !== undefined || logs.some((records) => records.some(isHandoff))
    ? new Handoffs(definition, kept, ...logs)
    : undefined

export const isHandoff = (record: LogRecord): boolean => record.type === 'tool.end' && record.handoff !== undefined
