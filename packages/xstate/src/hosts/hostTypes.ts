import type { AgentRuntime } from '../../../../src/runtime/agentRuntime.ts'
import type { HostView } from '../../../wire/src/hostView.ts'
import type { OpenHost, OpeningOptions } from './registry.ts'
import type { ToolEffects } from '../../../../src/actors/tools/checkedUndo.ts'

/** An XState machine, as `setup(…).createMachine` of XState 5.20 or later returns it. */
export interface AnyMachine {
  readonly id: string
  readonly config: unknown
  readonly implementations: { readonly actors: { readonly [name: string]: unknown } }
  // Names of its events and states differ from machine to machine.
  // oxlint-disable-next-line typescript/no-explicit-any
  transition(snapshot: any, event: any, scope: any): unknown
  provide(implementations: object): unknown
}

/** Kinds of effects: `none` and `idempotent` ones run again after a crash, `irreversible` ones never. */
export type DurableEffects = Exclude<ToolEffects, 'reversible'>

/** The state of a machine. */
type StateOf<M> = M extends { transition(snapshot: infer State, ...rest: never[]): unknown } ? State : never
/** Events that a machine takes. */
export type HostEvent<M> = M extends { transition(snapshot: never, event: infer Event, ...rest: never[]): unknown }
  ? Event
  : never
type OutputOf<M> = StateOf<M> extends { readonly output: infer Output } ? Exclude<Output, undefined> : unknown

/** Rules by which a machine is kept. */
export interface HostRules {
  /** Name in logs, by which `runtime.wake` finds the machine. Default: its id. */
  readonly name?: string
  /** Version of the machine. Raise it with each change of states or context. Default: none. */
  readonly version?: string
  /**
   * Converts the persisted snapshot of another version (`{ value, context, children, status,
   * historyValue }`) into a state of this machine. Without it, a log of another version is refused.
   */
  readonly migrate?: (snapshot: object, from: { readonly version: string | undefined }) => object
  /** Effects of actors made by plain `fromPromise`, by name in `setup`. Such actors are refused if neither named here nor `durable`. */
  readonly effects?: { readonly [actor: string]: DurableEffects }
  /** Returns the reason for refusing an event from outside; `undefined` accepts it. Default: all events are accepted. */
  readonly refuse?: (event: { readonly type: string }) => string | undefined
}

/** A machine with the rules by which it is kept, as `defineHost` returns it. */
export interface HostDefinition<M extends AnyMachine = AnyMachine> {
  readonly name: string
  readonly rules: HostRules
  machine(runtime: AgentRuntime): M
  /** Opens a machine of this definition, to wake it or to send it an event. Rejects as `hostMachine` does. */
  open(runtime: object, id: string, options?: OpeningOptions): Promise<OpenHost>
  /** Reads a machine of this definition from its log, without running it. Rejects as `hostMachine` does, and with `MACHINE_NOT_FOUND`. */
  read(runtime: object, id: string): Promise<OpenHost>
}

/** Options of `hostMachine`. */
export interface HostOptions {
  /** Id of the machine, from the same namespace as ids of agents: at most 100 letters, digits, `.`, `_` or `-`. */
  readonly id: string
  /** Input of a new machine, as JSON. Ignored if the machine has a log. */
  readonly input?: unknown
  /** Milliseconds to wait for another process to release the machine. Default 0. */
  readonly wait?: number
  /** Takes the machine over from a process that holds it. Default `false`. */
  readonly takeOver?: boolean
}

/** A machine that is kept in a log. */
export interface Hosted<M extends AnyMachine = AnyMachine> {
  readonly id: string
  /** The machine's actor, for `subscribe`, `useSelector` and inspectors. Events sent to it are recorded as by `send`, but not acknowledged. */
  readonly ref: HostRef<M>
  /** Current state of the machine. */
  readonly snapshot: StateOf<M>
  /** Summary of the machine's state for lists. */
  readonly view: HostView
  /**
   * Resolves with the machine's output once its end is recorded. Rejects with `MACHINE_FAILED` if the machine fails,
   * `MACHINE_CLOSED` if it is closed here first, `MACHINE_IMPURE`, `MACHINE_REFUSED`, and with the store's error.
   */
  readonly done: Promise<OutputOf<M>>
  /**
   * Sends an event; resolves once it is stored and was taken. `requestId`: an event sent again under one of the last 10,000 is taken
   * once. Rejects with `EVENT_INVALID`, `QUEUE_FULL` (10,000 wait), `MACHINE_CLOSED`, and as the store does; then it was not taken.
   */
  send(event: HostEvent<M>, options?: { readonly requestId?: string }): Promise<void>
  /** Calls `listener` after each step; returns a function that unsubscribes. */
  onStep(listener: (view: HostView) => void): () => void
  /** Resolves once the machine waits for nothing but events from outside, times and people, or has ended. Rejects with the reason of `signal`. */
  settled(options?: { readonly signal?: AbortSignal }): Promise<void>
  /** Releases the machine: it continues from its log when it is opened again, or is due. Waits for irreversible effects. Idempotent. */
  close(): Promise<void>
}

/** Part of the machine's actor that callers may use. */
export interface HostRef<M> {
  readonly id: string
  getSnapshot(): StateOf<M>
  send(event: HostEvent<M>): void
  subscribe(listener: (snapshot: StateOf<M>) => void): { unsubscribe(): void }
}
