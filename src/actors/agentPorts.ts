import type { AssembledRequest } from '../conversation/request/assembleRequest.ts'
import type { Conversation } from '../conversation/tree/conversation.ts'
import type { Evidence, PolicyStart } from '../protocol/braking.ts'
import type { Clock } from '../protocol/ports/clock.ts'
import type { LiveEvent } from '../protocol/events.ts'
import type { Model, ModelRequest } from '../protocol/ports/model.ts'
import type { Provenance } from '../protocol/provenance.ts'
import type { Answer, Question } from '../protocol/questions.ts'
import type { AgentSnapshots } from '../protocol/ports/snapshots.ts'
import type { TracedEffect } from '../protocol/ports/tracer.ts'
import type { InnerAgentCall, InnerDecision, InnerRequest } from '../protocol/parts/inner/innerDecisions.ts'
import type { CallOutput, ReplyFailure } from '../machines/effectTypes.ts'
import type { PartDraft, PartStates } from '../machines/partStates.ts'
import type { OpenInput, OpenOutput, WatchOutput } from '../machines/supervisorTypes.ts'
import type { ToolResultMessage, Usage } from '../protocol/messages.ts'
import type { Spent } from '../protocol/records.ts'
import type { SourceInfo, ToolsChange } from '../protocol/toolsChange.ts'
import type { Limits } from '../protocol/runs/runLimits.ts'
import type { AgentDefinition } from './define/agentDefinition.ts'
import type { Gate } from './models/openStream.ts'
import type { Cancellation } from './timing/cancellation.ts'
import type { Closable } from './tools/toolContext.ts'
import type { WaitedFor, WaitForCall } from './tools/waitForTool.ts'
import type { LiveDecision, TurnFrame } from './turn/turnFrames.ts'
import type { StatePort } from './parts/state/stateDoor.ts'
import type { BackgroundPorts } from './parts/background/backgroundPorts.ts'
import type { LeftBehind } from './parts/memory/leftBehind.ts'
import type { AgentPermissions } from './parts/permissions/agentPermissions.ts'
import type { Metadata } from '../protocol/metadata.ts'
import type { Redactor } from '../protocol/ports/redactor.ts'

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
  /** Id of the model that answers, if it is not the agent's. */
  readonly model?: string
}

/** The sub-agents of one agent, as its effects see them. */
export interface ChildPorts {
  /** Prepares a sub-agent to run, from its log if it has one, or returns the answer of its call instead. */
  open(input: OpenInput, cancellation: Cancellation): Promise<OpenOutput>
  /**
   * Has a sub-agent carry out a call that the running call under `callKey` makes, once there is a free slot. Resolves with the
   * unreviewed answer once the end of the call is recorded. If `signal` aborts, the call is aborted and rejects with its reason.
   */
  call(callKey: string, call: InnerAgentCall, signal: AbortSignal): Promise<CallOutput>
  /** Resolves once the sub-agent has ended, crashed or stalled. */
  watch(input: OpenInput, cancellation: Cancellation): Promise<WatchOutput>
  /** Aborts sub-agents that were started since that turn and are still alive. Returns their ids. */
  abandon(sinceTurn: number): NonNullable<Evidence['children']>
  /**
   * Resolves once the named sub-agents have reported, the time is up, the agent gets a message or `signal` aborts. Rejects for ids of other agents.
   */
  waitFor(call: WaitForCall, signal: AbortSignal): Promise<WaitedFor>
  /** Resolves once all sub-agents of waiting calls have ended, with their usage by the call's key. */
  settled(): Promise<{ readonly [key: string]: Spent }>
}

/** Result of asking the sources of an agent for the turn that begins. */
export interface SourcesLook {
  /** Change to be recorded; `undefined` if there is none since the last one. */
  readonly change: ToolsChange | undefined
  readonly definition: AgentDefinition
  /** Sources whose state differs from the one last announced. */
  readonly news: readonly SourceInfo[]
  /** Names of the sources that are not up. Their tools may come later. */
  readonly notUp: readonly string[]
}

/** Result of a run of an incognito agent. */
export interface IncognitoResult {
  /** Text of the run's last reply; incomplete or empty if there is a `problem`. */
  readonly text: string
  /** The answer as data, if the definition has an `output` schema and there is no `problem`. */
  readonly output?: unknown
  /** Reason why the run did not finish: it failed, was refused, was paused by a limit, or took too long. */
  readonly problem?: string
  /** Tokens used by the run and by the sub-agents that it called; also given when there is a `problem`. */
  readonly usage: Usage
  /** Cost of everything in `usage`, in US dollars, by the prices of the definitions; 0 without prices. */
  readonly costUsd: number
  /** Number of model turns, including those of the sub-agents. */
  readonly turns: number
}

/** Everything that the effects of one agent may reach. Implemented by the runtime. */
export interface AgentPorts {
  readonly agentId: string
  readonly path: readonly string[]
  readonly definition: AgentDefinition
  /** The definition from which the agent was made. `definition` differs once the conversation has been handed over. */
  readonly ownDefinition: AgentDefinition
  /**
   * Value that the application gave to the current run, by reference; `undefined` if nothing was given. Read it when an effect starts:
   * later the agent may be in another run.
   */
  readonly deps: unknown
  /** Frame of the current turn's requests; between turns, the frame of the last turn. */
  readonly frame: TurnFrame
  /** Keeps the parts of a turn's decision that no record can hold. */
  decided(live: LiveDecision): void
  /** Asks the tool sources for the tools of the turn that begins; missing if there are none. Rejects only when it is cancelled. */
  readonly lookAtSources?: ((cancellation: Cancellation) => Promise<SourcesLook>) | undefined
  /** Tells the application once about a problem in its code, through its logger or, without one, the process. The model is not told. */
  tellApplication?(message: string): void
  /**
   * Reports to the application an error that one of its functions threw, with its stack. No model, log or client is
   * told. `what` names the function.
   */
  callbackFailed?(what: string, thrown: unknown): void
  readonly conversation: Conversation
  /**
   * Content that the model no longer sees and that has not been searched for the agent's memory yet; missing if there is none, or without `extract`.
   */
  readonly leftBehind?: LeftBehind | undefined
  /** Current rules for the agent's calls, including those of the agents above it; missing if there are none. */
  readonly permissions?: AgentPermissions | undefined
  /** Set if nothing about the agent is to be kept. */
  readonly incognito?: true | undefined
  /** Metadata that the application attached to the agent. */
  readonly metadata?: Metadata | undefined
  readonly clock: Clock
  /** Returns a random number from 0 to 1. */
  readonly random: () => number
  /** Returns the outcome of the same call of another agent of its group, in one line; missing outside a group. */
  readonly lessonOfOthers?:
    | ((call: { readonly name: string; readonly input: unknown }) => string | undefined)
    | undefined
  /** Ports of the agent's sub-agents; missing until it has one. */
  readonly children?: ChildPorts | undefined
  /** Ports of the calls in the background; missing outside the runtime. */
  readonly background?: BackgroundPorts | undefined
  /** Removes secrets; set with `redact`. Applied before text is cut, because half a secret would not be recognised. */
  readonly redactor?: Redactor | undefined
  /** Registers a tool's resource to be closed with the agent or the runtime. Returns false if it was known. Missing outside the runtime. */
  closeWith?(resource: Closable, of: 'agent' | 'runtime'): boolean
  /** The agent's state; `undefined` if its definition has none. */
  readonly state?: StatePort | undefined
  /** Store for earlier contents of files, used by the agent's tools. */
  readonly snapshots: AgentSnapshots
  partial: PartialReply | null
  /** Output that running calls have printed so far, by call id. The model is shown it if a call ends without a result. */
  readonly printed: Map<string, string>
  /** Receipts of running calls so far, by call id. They remain valid if the calls are aborted. */
  readonly kept: Map<string, NonNullable<ToolResultMessage['receipt']>>
  announced: string
  /** Returns the request for the current trunk. */
  assemble(turnIndex: number): AssembledRequest
  /**
   * Returns the gate for the agent's model calls, with the estimated tokens of the request; `undefined` without limits.
   * `model`: the model that is called through the gate, inside `within`.
   */
  gate(tokens?: number, model?: Model): Gate | undefined
  /** Resolves once every record so far is as durable as the store guarantees; `undefined` if it already is. Rejects if the store fails. */
  durable(): Promise<void> | undefined
  /** Like `durable`, for effects that begin outside `within` and the gate. Rejects with `STORE_LEASE_LOST` if another writer may have the log. */
  held(): Promise<void>
  emit(event: LiveBody): void
  /** Like `emit`, but optimised for the many pieces of a growing reply. */
  delta(type: 'reply.delta' | 'thinking.delta', at: TurnPlace, text: string, offset: number): void
  /** Announces a request: the content of `assembled`, with the settings of `request`. */
  requested(at: TurnPlace, request: ModelRequest, assembled: AssembledRequest): void
  /** True if anyone receives live events; otherwise large ones are not built. */
  readonly isObserved: boolean
  /** Makes the machine record the request for the reply under `key`. */
  capture(key: string, attempt: number, request: ModelRequest, provenance: readonly Provenance[]): void
  /**
   * Runs a new incognito agent below this one until it has answered. It is not stored or listed, and it is gone afterwards. People are not
   * asked about its calls: calls that need an approval are denied. The caller counts its usage. Resolves only once the agent has ended, with
   * a `problem` if it did not finish. Rejects with the reason of `signal` if that aborts, and as `runtime.spawn` does. `limits` default to
   * those of the definition; `timeoutMs` is wall time in milliseconds. `onStart` is given a function that returns the agent's usage so far.
   */
  runIncognito(
    definition: AgentDefinition,
    prompt: string,
    options: {
      readonly signal: AbortSignal
      readonly limits?: Limits
      readonly timeoutMs: number
      readonly onStart?: (spent: () => Spent) => void
    },
  ): Promise<IncognitoResult>
  /**
   * Asks people on behalf of the running call under `callKey`, which waits from now on. Resolves with the answer once it is recorded. `wrongIn`
   * returns the fault of an answer, which is then refused. Rejects with the reason of `signal`.
   */
  ask(
    callKey: string,
    question: Question,
    wrongIn: (value: unknown) => string | undefined,
    signal: AbortSignal,
  ): Promise<Answer>
  /**
   * Asks people about a call that the running call under `callKey` makes, which waits from now on. Resolves with the decision once it is recorded.
   * Rejects with the reason of `signal`.
   */
  approve(callKey: string, request: InnerRequest, signal: AbortSignal): Promise<Omit<InnerDecision, 'key' | 'asked'>>
  /** End of the time that the run may take, in epoch milliseconds; `null` if it has no such limit. */
  readonly deadline: number | null
  /** The states of the agent's parts. */
  readonly parts: PartStates
  /**
   * Puts the running call under `key` to sleep until a time, when it has its result. Its effect ends at once. `goesOn`: the call runs again instead.
   */
  sleep(key: string, until: number, goesOn?: true): void
  /** Adds records of parts in one step. The machine receives them without secrets, as they are in the log. */
  record(records: readonly PartDraft[]): void
  /** Reports a warning of the model, once per run. */
  warn(at: TurnPlace, message: string): void
  /** Begins an effect, inside its span if there is a tracer. @throws RuntimeError `STORE_LEASE_LOST` if another writer may have the log */
  within<T>(effect: TracedEffect, run: () => T): T
  /** Returns the agent's log so far in the form of `exportSession`. Rejects if the store fails. */
  exportSession(): AsyncIterable<string>
  /** Tells the machine that a policy fired in the consultation under `key`. */
  policyFired(key: string, start: PolicyStart): void
  /** Tells the machine that the model of the reply under `key` failed and that the model `next` answers in the next attempt. */
  replyReplaced(key: string, failure: ReplyFailure, next: string): void
  /** Tells the machine that the first token of the reply under `key` arrived. */
  replyStarted(key: string): void
}

/** Finds an agent's ports by id. Actors get plain JSON as input and have no other access to the outside. */
export type FindPorts = (agentId: string) => AgentPorts
