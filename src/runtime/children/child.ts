import type { Callee } from '../../actors/define/agentDefinition.ts'
import type { QueuedMessage } from '../../protocol/runs/queue.ts'
import type { Spent } from '../../protocol/records.ts'
import type { Limits } from '../../protocol/runs/runLimits.ts'
import type { Store } from '../../protocol/ports/store.ts'
import type { RunOutcome } from '../../protocol/runs/run.ts'
import { addSpent, lessSpent } from '../../log/spent.ts'
import type { RunDeps } from './runDeps.ts'
import type { TreeAgent } from './treeAgent.ts'

/** A promise settled from outside. Our declarations must also work with older libraries that lack `PromiseWithResolvers`. */
export interface Deferred<T> {
  readonly promise: Promise<T>
  resolve(value: T): void
  reject(reason: unknown): void
}

/** A sub-agent, from the request for it until its parent has removed it. After a crash it may be restarted. */
export interface Child {
  /**
   * `wanted`: requested by code, but not yet opened by the machine. `opening`: its log is being opened and read.
   * `opened`: ready for its supervisor to run. `running`. `ended`: its last start is over, or it never started.
   */
  state: 'wanted' | 'opening' | 'opened' | 'running' | 'ended'
  /** Definition and options of a child that code requested; also used for a restart. */
  agent?: Callee | undefined
  /** Dependencies of a child that code requested, if they differ from its parent's. */
  deps?: RunDeps | undefined
  /** Store of an incognito child whose parent is not incognito. */
  incognito?: Store | undefined
  /** Callers that wait for it to start. */
  asked?: Deferred<TreeAgent> | undefined
  /** Settled once the child is running, or will not run. */
  ready?: Deferred<void> | undefined
  /** The current start; set while the child is open or running. */
  life?: Life | undefined
  /** Set while the previous start is releasing its log. */
  release?: Promise<void> | undefined
  /** Usage of a child that code requested, before it was attached. */
  usedBefore?: Spent | undefined
  /** Callers that wait until the parent has removed the child. */
  left?: Deferred<void> | undefined
}

/** Options with which code requests a child. */
export interface Wanted {
  readonly incognito: boolean
  readonly deps: RunDeps | undefined
}

/** One start of a sub-agent, up to its end. */
export interface Life {
  readonly host: TreeAgent
  readonly key: string
  /** The run whose answer a call is waiting for. */
  readonly run: RunOutcome | undefined
  /** True if that run continues an interrupted one. */
  readonly resume: boolean
  readonly limits: Limits | undefined
  readonly isCalled: boolean
  /** Usage before it was attached or, if a call started it, the usage counted on runs that a limit ended. */
  readonly usedBefore: Spent | undefined
  /** The child's first message, unless its log already has it. */
  readonly prompt: QueuedMessage | undefined
  readonly stallMs: number
  readonly agent: Callee
  /** Settled once the child has ended, or will never run. */
  readonly gone: Deferred<void>
}

export const sumOf = (a: Spent | undefined, b: Spent | undefined): Spent | undefined =>
  a === undefined || b === undefined ? (a ?? b) : addSpent(a, b)

export const since = (before: Spent | undefined, spent: Spent): Spent =>
  before === undefined ? spent : lessSpent(spent, before)

/** Returns the usage of a child since it was attached, called or last counted. */
export const usedBy = ({ host, usedBefore }: Life): Spent => since(usedBefore, host.view.spent)
