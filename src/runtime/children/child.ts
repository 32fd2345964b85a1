import type { SubAgent } from '../../actors/agentDefinition.ts'
import type { Limits, QueuedMessage, Spent } from '../../protocol/records.ts'
import type { RunOutcome } from '../../runs/run.ts'
import { lessSpent } from '../../sessions/spent.ts'
import type { TreeAgent } from './treeAgent.ts'

/** A promise settled from outside. Declarations are read with older libraries too, which do not know `PromiseWithResolvers`. */
export interface Deferred<T> {
  readonly promise: Promise<T>
  resolve(value: T): void
  reject(reason: unknown): void
}

/** A sub-agent from when it is asked for until its agent has taken leave of it; after a crash it may have another life. */
export interface Child {
  /**
   * `wanted`: code asked for it, and the machine has not opened it. `opening`: its log is opened and read. `opened`: ready to be run
   * by its supervisor. `running`. `ended`: this life is over, or never began.
   */
  state: 'wanted' | 'opening' | 'opened' | 'running' | 'ended'
  /** Of one that code asked for: what it is, when it is begun anew too. */
  agent?: SubAgent | undefined
  /** Whoever asked for it by code, until it is there. */
  asked?: Deferred<TreeAgent> | undefined
  /** Settled once it runs, or will not. */
  ready?: Deferred<void> | undefined
  /** While it is opened or runs. */
  life?: Life | undefined
  /** The life before lets go of its log. */
  release?: Promise<void> | undefined
  /** What one that code asked for had used before it was attached. */
  usedBefore?: Spent | undefined
  /** Whoever waits until the agent has taken leave of it. */
  left?: Deferred<void> | undefined
}

/** One life of a sub-agent. */
export interface Life {
  readonly host: TreeAgent
  readonly key: string
  /** The run whose answer a call waits for. */
  readonly run: RunOutcome | undefined
  /** That run goes on from one that was cut off. */
  readonly resume: boolean
  /** Of a called one. */
  readonly limits: Limits | undefined
  readonly isCalled: boolean
  /** What it had used before it was attached; or, of a called one, what runs that a limit ended have counted. */
  readonly usedBefore: Spent | undefined
  /** Its first message, unless its log has that already. */
  readonly prompt: QueuedMessage | undefined
  readonly stallMs: number
  /** Settled once it has ended, or will never be run. */
  readonly gone: Deferred<void>
}

export const since = (before: Spent | undefined, spent: Spent): Spent =>
  before === undefined ? spent : lessSpent(spent, before)

/** What a child has used since it was attached, called or last counted. */
export const usedBy = ({ host, usedBefore }: Life): Spent => since(usedBefore, host.spent)
