import type { AgentRuntime } from '../../../../src/runtime/agentRuntime.ts'
import type { HostView } from '../../../wire/src/hostView.ts'
import type { OpenHost, OpeningOptions } from './registry.ts'
import type { ToolEffects } from '../../../../src/actors/tools/checkedUndo.ts'

/** An XState machine, as `setup(…).createMachine` of any copy from 5.20 on makes it. */
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

/** Options of a machine that is kept, besides the machine. */
export interface HostRules {
  /** Name in logs, by which `runtime.wake` finds the machine. Default: its id. */
  readonly name?: string
  /** Version of the machine. Raise it with each change of states or context. Default: none. */
  readonly version?: string
  /**
   * Makes a state of this machine from the persisted snapshot of another version: `{ value, context, children, status, historyValue }`. Without it
   * a log of another version is refused.
   */
  readonly migrate?: (snapshot: object, from: { readonly version: string | undefined }) => object
  /** Effects of actors made by plain `fromPromise`, by their names in `setup`. Those that are neither named here nor `durable` are refused. */
  readonly effects?: { readonly [actor: string]: DurableEffects }
  /** Returns why an event from outside is refused; `undefined` lets it through. Default: all are let through. */
  readonly refuse?: (event: { readonly type: string }) => string | undefined
}

/** A machine with the rules by which it is kept, as `defineHost` returns it. */
export interface HostDefinition<M extends AnyMachine = AnyMachine> {
  readonly name: string
  readonly rules: HostRules
  machine(runtime: AgentRuntime): M
  /** Opens one, for whoever wakes it or sends it an event. Rejects as `hostMachine` does. */
  open(runtime: object, id: string, options?: OpeningOptions): Promise<OpenHost>
  /** Reads one from its log, and runs nothing of it. Rejects as `hostMachine` does, and with `MACHINE_NOT_FOUND`. */
  read(runtime: object, id: string): Promise<OpenHost>
}

/** Options of `hostMachine`. */
export interface HostOptions {
  /** Id of the machine, shared with agents: at most 100 letters, digits, `.`, `_` or `-`. */
  readonly id: string
  /** Input with which it begins, JSON; of no use for one that has a log. */
  readonly input?: unknown
  /** Time to wait for another process to release it, in milliseconds. Default 0. */
  readonly wait?: number
  /** Takes it from a process that has it. Default `false`. */
  readonly takeOver?: boolean
}

/** A machine that is kept in a log. */
export interface Hosted<M extends AnyMachine = AnyMachine> {
  readonly id: string
  /** Its actor, for `subscribe`, `useSelector` and inspectors. What is sent to it is recorded like what `send` is given, but unacknowledged. */
  readonly ref: HostRef<M>
  /** Its state. */
  readonly snapshot: StateOf<M>
  /** Its state for lists. */
  readonly view: HostView
  /**
   * Resolves with its output once it is done and recorded. Rejects with `MACHINE_FAILED` if it fails, `MACHINE_CLOSED` if it is closed here first,
   * `MACHINE_IMPURE`, `MACHINE_REFUSED`, and with the store's error.
   */
  readonly done: Promise<OutputOf<M>>
  /**
   * Gives it an event; resolves once that is in the store and was taken. `requestId`: an event that is sent again under one of the last 10,000 is taken
   * once. Rejects with `EVENT_INVALID`, `QUEUE_FULL` (10,000 wait), `MACHINE_CLOSED`, and as the store does; then it was not taken.
   */
  send(event: HostEvent<M>, options?: { readonly requestId?: string }): Promise<void>
  /** Calls `listener` after each step; returns a function that ends it. */
  onStep(listener: (view: HostView) => void): () => void
  /** Resolves once it waits for nothing but events from outside, times and people; or with its end. Rejects with the reason of `signal`. */
  settled(options?: { readonly signal?: AbortSignal }): Promise<void>
  /** Releases it: it goes on from its log when it is opened, or is due. Waits for irreversible effects. Idempotent. */
  close(): Promise<void>
}

/** The part of its actor that others may use. */
export interface HostRef<M> {
  readonly id: string
  getSnapshot(): StateOf<M>
  send(event: HostEvent<M>): void
  subscribe(listener: (snapshot: StateOf<M>) => void): { unsubscribe(): void }
}
