import type { AgentDefinition } from '../../actors/agentDefinition.ts'
import type { Conversation } from '../../conversation/conversation.ts'
import type { AgentContext, AgentInput, AgentMachineEvent } from '../../machines/agentTypes.ts'
import type { Clock } from '../../protocol/clock.ts'
import type { ErrorInfo } from '../../protocol/errors.ts'
import type { Spent } from '../../protocol/records.ts'
import type { Store } from '../../protocol/store.ts'
import type { Announcer } from '../events/announcer.ts'
import type { Runs } from '../events/runs.ts'
import type { StallTimer } from './stallTimer.ts'

/** An agent that is loaded, as those above and below it in its tree see it. */
export interface TreeAgent {
  readonly agentId: string
  /** Ids of its ancestors, root first. */
  readonly path: readonly string[]
  readonly definition: AgentDefinition
  readonly parent: TreeAgent | undefined
  /** Sub-agents that are alive, oldest first. */
  readonly liveChildren: readonly TreeAgent[]
  /** How deep the tree may grow: its root says. */
  readonly maxDepth: number
  /** What its machine began with. */
  readonly input: AgentInput
  readonly context: AgentContext
  /** Name of the chart's active state. */
  readonly state: string
  readonly conversation: Conversation
  /** What it used over its life, its sub-agents included. */
  readonly spent: Spent
  readonly clock: Clock
  readonly store: Store
  readonly announcer: Announcer
  readonly runs: Runs
  readonly stallTimer: StallTimer
  /** Resolves when no more comes of it; with the reason when its machine failed. */
  readonly ended: Promise<ErrorInfo | null>
  /** Somebody stopped or closed it. */
  readonly isEndedOnPurpose: boolean
  /** Begins its life as a root. */
  start(): void
  /** Begins what waits in a restored agent. */
  wake(): void
  send(event: AgentMachineEvent): void
  /** Calls `close` when no more events can come; returns a function that forgets it. */
  onEnd(close: (crash: ErrorInfo | null) => void): () => void
  durable(): Promise<void> | undefined
  /** Reports something that went wrong beside the run. */
  fail(thrown: unknown): void
  /** Resolves once sub-agents that are being opened are there, and all below them. */
  childrenReady(): Promise<void>
  /** Resolves once it has taken leave of a sub-agent. */
  childGone(childId: string): Promise<void>
}
