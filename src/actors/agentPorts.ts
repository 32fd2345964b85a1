import type { AssembledRequest } from '../conversation/assembleRequest.ts'
import type { Conversation } from '../conversation/conversation.ts'
import type { Evidence } from '../protocol/braking.ts'
import type { Clock } from '../protocol/clock.ts'
import type { LiveEvent } from '../protocol/events.ts'
import type { ModelRequest } from '../protocol/model.ts'
import type { Provenance } from '../protocol/provenance.ts'
import type { TracedEffect } from '../protocol/tracer.ts'
import type { OpenInput, OpenOutput, WatchOutput } from '../machines/supervisorTypes.ts'
import type { Spent } from '../protocol/records.ts'
import type { AgentDefinition } from './agentDefinition.ts'
import type { Cancellation } from './cancellation.ts'
import type { Redactor } from '../redaction/redactor.ts'

type Unstamped<E> = E extends unknown ? Omit<E, 'agentId' | 'path' | 'seq' | 'time'> : never

/** A live event before the runtime adds its agent and time. */
export type LiveBody = Unstamped<LiveEvent>

/** The run and turn that something belongs to. */
export interface TurnPlace {
  readonly runId: string
  readonly turnIndex: number
}

/** The part of a reply that has arrived so far, which an abort keeps. */
export interface PartialReply {
  readonly key: string
  text: string
  thinking: string
  readonly estimatedTokens: number
}

/** The sub-agents of one agent, as its effects see them. */
export interface ChildPorts {
  /** Prepares a sub-agent to run, from its log if it has one, or returns what its call is answered with instead. */
  open(input: OpenInput, cancellation: Cancellation): Promise<OpenOutput>
  /** Resolves once it has ended, crashed or stalled. */
  watch(input: OpenInput, cancellation: Cancellation): Promise<WatchOutput>
  /** Aborts sub-agents started since that turn that are still alive; returns which they were. */
  abandon(sinceTurn: number): NonNullable<Evidence['children']>
  /** What the sub-agents of waiting calls used, by the call's key, once all have ended. */
  settled(): Promise<{ readonly [key: string]: Spent }>
}

/** What the effects of one agent may reach. Implemented by the runtime. */
export interface AgentPorts {
  readonly agentId: string
  readonly path: readonly string[]
  readonly definition: AgentDefinition
  readonly conversation: Conversation
  readonly clock: Clock
  /** A number from 0 to 1. */
  readonly random: () => number
  /** Absent until it has one. */
  readonly children?: ChildPorts | undefined
  /** Removes secrets; set with `redact`. Applied before text is cut, because a secret that was cut in half is no longer recognised. */
  readonly redactor?: Redactor | undefined
  partial: PartialReply | null
  /** The last request that was announced. */
  announced: string
  /** The request for the current trunk. */
  assemble(turnIndex: number): AssembledRequest
  /** Resolves once every record so far is as durable as the store guarantees; `undefined` if it already is. Rejects if the store fails. */
  durable(): Promise<void> | undefined
  emit(event: LiveBody): void
  /** Like `emit`, but optimised for the many pieces of a growing reply. */
  delta(type: 'reply.delta' | 'thinking.delta', at: TurnPlace, text: string, offset: number): void
  /** Announces a request: what `assembled` holds, with the settings of `request`. */
  requested(at: TurnPlace, request: ModelRequest, assembled: AssembledRequest): void
  /** Whether anyone receives live events; otherwise large ones are not built. */
  readonly isObserved: boolean
  /** Makes the machine record the request for the reply under `key`. */
  capture(key: string, attempt: number, request: ModelRequest, provenance: readonly Provenance[]): void
  /** Reports a warning of the model, once per run. */
  warn(at: TurnPlace, message: string): void
  /** Runs an effect inside its span, if there is a tracer. */
  within<T>(effect: TracedEffect, run: () => T): T
  /** Tells the machine that the first token of the reply under `key` arrived. */
  replyStarted(key: string): void
}

/** Finds an agent's ports by id: actors get plain JSON as input and reach the world only through this. */
export type FindPorts = (agentId: string) => AgentPorts
