import type { AgentDefinition } from '../../actors/define/agentDefinition.ts'
import type { TurnPlace } from '../../actors/agentPorts.ts'
import type { ClientOutcome } from '../../actors/calls/clientResult.ts'
import type { StatePort } from '../../actors/parts/state/stateDoor.ts'
import type { Conversation } from '../../conversation/tree/conversation.ts'
import type { AgentContext, AgentInput, AgentMachineEvent } from '../../machines/agentTypes.ts'
import type { CallReturn } from '../../machines/effectTypes.ts'
import type { Clock } from '../../protocol/ports/clock.ts'
import type { ErrorInfo } from '../../protocol/errors.ts'
import type { Metadata } from '../../protocol/metadata.ts'
import type { Pending, PendingOf } from '../../protocol/runs/pending.ts'
import type { Spent } from '../../protocol/records.ts'
import type { LeaseOptions, Store } from '../../protocol/ports/store.ts'
import type { Announcer } from '../events/announcer.ts'
import type { Runs } from '../events/runs.ts'
import type { StallTimer } from '../events/agentTimers.ts'

/** Checks people's decisions about an agent's calls, before its machine is told. */
export interface PeoplesAnswers {
  /** Returns true if a key was decided a moment ago, because the machine may be in the middle of a step. */
  isDecided(key: string): boolean
  decided(key: string): void
  /** Returns the fault of the answer to a question; `undefined` if there is none. */
  wrongInAnswer(question: PendingOf<'question'>, value: unknown): string | undefined
  /** Returns the fault of arguments that a person edited; `undefined` if there is none. */
  wrongInInput(call: PendingOf<'approval'>, input: unknown): string | undefined
  /** Returns arguments that a person edited, in the form passed to the tool or agent. */
  settled(call: PendingOf<'approval'>, input: unknown): unknown
  /** Returns the result, for the model, of a call that a client carried out. */
  resultOf(call: PendingOf<'call'>, given: ClientOutcome): CallReturn
}

/** A call or question that waits for a person, with the key by which to decide it. */
export interface WaitingCall {
  readonly key: string
  readonly kind: Pending['kind']
}

/** Totals of an agent together with every live agent below it, for lists. */
export interface TreeTotals {
  /** Calls and questions that wait for people, the agent's own first. */
  readonly waiting: readonly WaitingCall[]
  /** Usage of live sub-agents that their parents have not counted yet; `undefined` if there is none. */
  readonly uncounted: Spent | undefined
}

/** A loaded agent as seen by those above and below it in its tree. */
export interface TreeAgent {
  readonly agentId: string
  /** Ids of the agent's ancestors, root first. */
  readonly path: readonly string[]
  readonly parent: TreeAgent | undefined
  /** Dependencies that the application gave to the current run; `undefined` if it gave none. */
  readonly deps: unknown
  readonly shared: { readonly clock: Clock }
  readonly store: Store
  /** Options with which the log and those of sub-agents are opened. */
  readonly leasing: LeaseOptions | undefined
  /** Set if nothing of the agent, or of those below it, is stored. */
  readonly incognito: true | undefined
  readonly metadata: Metadata | undefined
  readonly machine: {
    readonly input: AgentInput
    readonly context: AgentContext
    /** Name of the chart's active state. */
    readonly state: string
    /** The run and turn that a live event belongs to. */
    readonly at: TurnPlace
    /** True if the agent has stopped, or was asked to. */
    readonly isStopped: boolean
    /** True if the agent was stopped or closed. */
    readonly isEndedOnPurpose: boolean
    /** Resolves when the agent has ended, with the reason if its chart failed. */
    readonly ended: Promise<ErrorInfo | null>
    /** Number of commands sent that the context does not show yet. */
    readonly unseen: number
    send(event: AgentMachineEvent): void
    /** Sends the chart an event that is not a command. */
    tell(event: AgentMachineEvent): void
    /** Ends the agent, for good or to be resumed from the log. Idempotent; the first call decides. */
    end(how: 'stop' | 'close'): Promise<void>
    /** Calls `close` when no more events can come. Returns a function that unsubscribes it. */
    onEnd(close: (crash: ErrorInfo | null) => void): () => void
    /** Ends the actor without a record, even in the middle of its work. Requests made here end with `why`. */
    letGo(why: ErrorInfo): void
  }
  readonly family: {
    /** The agent's live sub-agents, oldest first. */
    readonly live: readonly TreeAgent[]
    /** The agent's sub-agents, live or about to start. */
    readonly children: { gone(childId: string): Promise<void> }
    /** Living sub-agents without incognito ones, unless the agent is incognito itself. */
    readonly listed: readonly TreeAgent[]
    /** Maximum depth of the tree, which its root decides. */
    readonly maxDepth: number
    /** Totals of the agent and of every live agent below it. */
    readonly totals: TreeTotals
    /** Notes that the agent, or one below it, has changed. */
    changed(): void
    /** Resolves once all sub-agents that are being opened, and those below them, are ready. */
    ready(): Promise<void>
    /** Resolves once the logs of the sub-agents are free, after the agent was released or has ended; `undefined` if it never had any. */
    released(): Promise<void> | undefined
  }
  readonly view: {
    readonly definition: AgentDefinition
    readonly conversation: Conversation
    /** Usage of the agent in its lifetime, including its sub-agents. */
    readonly spent: Spent
  }
  readonly log: {
    durable(): Promise<void> | undefined
    /** Checks, right before an effect begins, that the log is still held. @throws RuntimeError `STORE_LEASE_LOST`: it may be lost. */
    checkHeld(): void
    /** Waits until the log has the records of the effect that begins. Rejects as `durable` and `checkHeld` do. */
    held(): Promise<void>
  }
  readonly ports: {
    /** Id of the model that the agent waits for, within the limits of the runtime. */
    readonly waitsFor: string | null
    /** Checks people's answers to the agent's calls. */
    readonly answers: PeoplesAnswers
    /** The state that the agent's tools use. */
    readonly state?: StatePort | undefined
    /** Stores the rules that people added and revoked in the rule store. */
    keepRules(): void
  }
  readonly announcer: Announcer
  readonly runs: Runs
  readonly stallTimer: StallTimer
  /** Starts the agent as a root. */
  start(): void
  /** Starts the waiting work of a restored agent. */
  wake(): void
}
