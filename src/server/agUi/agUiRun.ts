import type { Message } from '@ag-ui/core'
import { addUsage, noUsage, type Usage } from '../../protocol/messages.ts'
import type { AgentEvent, EventOf } from '../../protocol/events.ts'
import { lessSpent } from '../../sessions/spent.ts'
import type { Spent } from '../../protocol/records.ts'
import { approvalInterrupts, awaitsDecision, endingOf, type Ending } from './endings.ts'
import { requestIdOf } from './ids.ts'
import type { ThreadActivity } from './threadActivity.ts'

/** What a run is begun with. */
interface RunStart {
  /** Ids of the user messages it says, in order. */
  readonly messageIds?: readonly string[]
  /** It continues what is under way, and need not wait for a run of its own to start. */
  readonly isContinuation?: boolean
  /** The run of the agent that it is already, and what that has used. */
  readonly agentRunId?: string | undefined
  readonly usage?: Usage
}

/** What there was before anybody looked at a run. */
interface Backlog {
  /** The conversation before it. */
  readonly before: readonly Message[]
  readonly events: { readonly event: AgentEvent; readonly isShown: boolean }[]
}

/** Who looks at a run. */
interface RunObserver {
  take(event: AgentEvent, isShown: boolean): void
  /** Its end may be told. */
  over(): void
}

/** A run as AG-UI counts them: from a request of a client to its end, or to a question in the middle. */
export class AgUiRun {
  readonly activity: ThreadActivity
  readonly runId: string
  readonly observers = new Set<RunObserver>()
  /** Called once its end was told. */
  onOver: () => void = () => {}
  /** Ids of the user messages it says. */
  readonly messageIds: readonly string[]
  /** Those of them that are not in the conversation yet. */
  readonly pendingMessageIds: string[]
  readonly #isContinuation: boolean
  #agentRunId: string | undefined
  /** `ending`: it has an ending, which waits for the store; `over`: that may be told. */
  #state: 'opening' | 'running' | 'ending' | 'over' = 'opening'
  #ending: Ending | undefined
  #backlog: Backlog | undefined
  #spentBefore: Spent
  #usage: Usage

  constructor(activity: ThreadActivity, runId: string, start: RunStart) {
    const { messageIds = [], isContinuation = false, agentRunId, usage = noUsage } = start
    this.activity = activity
    this.runId = runId
    this.messageIds = messageIds
    this.pendingMessageIds = [...messageIds]
    this.#backlog = { before: activity.messages(), events: [] }
    this.#isContinuation = isContinuation
    this.#agentRunId = agentRunId
    this.#usage = usage
    this.#spentBefore = activity.agent.spent
  }

  /** Whether what the agent does now is this run; before, it waits for those ahead of it. */
  get isLive(): boolean {
    return this.#isContinuation || this.#agentRunId !== undefined
  }

  /** Whether its end may be told. */
  get isOver(): boolean {
    return this.#state === 'over'
  }

  get ending(): Ending | undefined {
    return this.#ending
  }

  /** Tokens of this run alone. */
  get usage(): Usage {
    return this.#usage
  }

  /** Everything that began it was carried out. */
  opened(): void {
    if (this.#state === 'opening') this.#state = 'running'
    this.#checkInterrupt()
  }

  /** What happened before anybody could look; only for the first who asks. Nothing is kept after. */
  takeBacklog(): Backlog | undefined {
    const backlog = this.#backlog
    this.#backlog = undefined
    return backlog
  }

  take(event: AgentEvent): void {
    if (this.#ending !== undefined) return
    const { agent, children } = this.activity
    const isRoot = event.agentId === agent.id
    if (isRoot && event.type === 'run.start') this.#start(event)
    const isShown = isRoot ? this.#isMine(event) : this.isLive && children.has(event.agentId)
    for (const observer of this.observers) observer.take(event, isShown)
    this.#backlog?.events.push({ event, isShown })
    if (isShown && isRoot && event.type === 'run.end') {
      this.finish(endingOf(agent, event, this.activity.lastText([event.runId])))
      // It is the last event of a step: those that led to the question have been told.
    } else if (event.type === 'state.changed') {
      // An agent that was closed has not always a word of it in its log.
      if (isRoot && event.state === 'stopped') this.finish({ type: 'cancelled' })
      this.#checkInterrupt()
    }
  }

  /** Ends it; the first ending counts. It is told once the store has what led to it. */
  finish(ending: Ending): void {
    if (this.#ending !== undefined) return
    const { agent } = this.activity
    this.#state = 'ending'
    this.#ending = ending
    this.#usage = addUsage(this.#usage, lessSpent(agent.spent, this.#spentBefore).usage)
    const over = (): void => this.#finished()
    const pending = agent.durable()
    // A store that fails is told of by the agent, which pauses.
    if (pending === undefined) over()
    else pending.then(over, over)
  }

  /** The client's id of a message that became part of the conversation, when it is the next of those this run says. */
  messageIdFor(event: EventOf<'message.added'>): string | undefined {
    return event.message.source !== 'steering' && this.#isMine(event) ? this.pendingMessageIds.shift() : undefined
  }

  #start({ requestId, runId }: EventOf<'run.start'>): void {
    const isOwn = requestId === requestIdOf(this.runId)
    if (isOwn || this.#isContinuation) this.#agentRunId ??= runId
    if (isOwn) this.#spentBefore = this.activity.agent.spent
  }

  /** Whether an event of the agent is of this run. */
  #isMine(event: AgentEvent): boolean {
    if (!('runId' in event)) return this.isLive
    if (this.#isContinuation) this.#agentRunId ??= event.runId
    return event.runId === this.#agentRunId
  }

  /** Ends it with a question when nothing goes on before somebody decides. */
  #checkInterrupt(): void {
    const { agent } = this.activity
    if (this.#state !== 'running' || !this.isLive || !awaitsDecision(agent)) return
    this.finish({ type: 'interrupt', interrupts: approvalInterrupts(agent) })
  }

  #finished(): void {
    this.#state = 'over'
    for (const observer of this.observers) observer.over()
    this.onOver()
  }
}
