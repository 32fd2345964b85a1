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

/** A live event before the runtime adds whose it is and when. */
export type LiveBody = Unstamped<LiveEvent>

/** The run and turn that something belongs to. */
export interface TurnPlace {
  readonly runId: string
  readonly turnIndex: number
}

/** What has arrived of a reply so far: what an abort keeps. */
export interface PartialReply {
  readonly key: string
  text: string
  thinking: string
  readonly estimatedTokens: number
}

/** The sub-agents of one agent, as its effects see them. */
export interface ChildPorts {
  /** Makes a sub-agent ready to run, from its log when it has one; or says what its call is answered with instead. */
  open(input: OpenInput, cancellation: Cancellation): Promise<OpenOutput>
  /** Resolves once it has ended, crashed or stalled. */
  watch(input: OpenInput, cancellation: Cancellation): Promise<WatchOutput>
  /** Aborts what was begun since that turn and is still alive; says what it found. */
  abandon(sinceTurn: number): NonNullable<Evidence['children']>
  /** What the sub-agents that calls wait for had used, by the key of the call, once all have ended. */
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
  /** Missing while it has had none. */
  readonly children?: ChildPorts | undefined
  /** Takes secrets out; set with `redact`. What is cut goes through it first: a secret that was cut through is not found any more. */
  readonly redactor?: Redactor | undefined
  partial: PartialReply | null
  /** The last request that was announced. */
  announced: string
  /** The request of the trunk as it stands. */
  assemble(turnIndex: number): AssembledRequest
  /** Resolves once every record so far is as durable as the store promises; `undefined`: it is already. Rejects when the store fails. */
  durable(): Promise<void> | undefined
  emit(event: LiveBody): void
  /** As `emit`, for the many pieces of a growing reply: the event is made in one go. */
  delta(type: 'reply.delta' | 'thinking.delta', at: TurnPlace, text: string, offset: number): void
  /** Tells of a request that goes out: what `assembled` holds, with the settings of `request`. */
  requested(at: TurnPlace, request: ModelRequest, assembled: AssembledRequest): void
  /** Whether anyone sees live events; building a large one for nobody is waste. */
  readonly isObserved: boolean
  /** Has the machine record the request of the reply under `key`. */
  capture(key: string, attempt: number, request: ModelRequest, provenance: readonly Provenance[]): void
  /** Tells of a warning of the model, once a run. */
  warn(at: TurnPlace, message: string): void
  /** Runs an effect inside its span, when there is a tracer. */
  within<T>(effect: TracedEffect, run: () => T): T
  /** Tells the machine that the first token of the reply under `key` arrived. */
  replyStarted(key: string): void
}

/** Finds an agent's ports by id: actors get plain JSON as input and reach the world through this alone. */
export type FindPorts = (agentId: string) => AgentPorts
