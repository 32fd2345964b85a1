import type { Message } from '@ag-ui/core'
import { addUsage, noUsage, type Usage } from '../../../src/protocol/messages.ts'
import type { AgentEvent, EventOf } from '../../../src/protocol/events.ts'
import { lessSpent } from '../../../src/log/spent.ts'
import type { Spent } from '../../../src/protocol/records.ts'
import { awaitsDecision } from '../../../src/runtime/agents/agentTree.ts'
import { isCutOff } from '../../bridge/src/server/drivenAgent.ts'
import { endingOf, waitEnding, type ClientTools, type Ending } from './endings.ts'
import { requestIdOf } from './ids.ts'
import type { ThreadActivity } from './threadActivity.ts'

/** Options of a run that starts. */
interface RunStart {
  /** Ids of the run's user messages, in order. */
  readonly messageIds?: readonly string[]
  /** True if the run continues the agent's current run, without waiting for a run of its own to start. */
  readonly isContinuation?: boolean
  /** Id of the agent's run if it has already started, with the tokens used so far. */
  readonly agentRunId?: string | undefined
  readonly usage?: Usage
  /** Tools that the run's client has. */
  readonly tools?: ClientTools
  /** True if the client only watches. */
  readonly isLook?: boolean
}

const noTools: ClientTools = new Set()

/** Events that happened before a run had its first observer. */
interface Backlog {
  /** The conversation before those events. */
  readonly before: readonly Message[]
  readonly events: { readonly event: AgentEvent; readonly isShown: boolean }[]
}

/** Follows a run. */
interface RunObserver {
  take(event: AgentEvent, isShown: boolean): void
  /** Called when the run is over and its end may be sent. */
  over(): void
}

/** A run in the sense of AG-UI: from a client's request to the end, or to an interrupt. */
export class AgUiRun {
  readonly activity: ThreadActivity
  readonly runId: string
  readonly observers = new Set<RunObserver>()
  /** Set if an engine places the agent: rejects if the engine refused the commands of this run. */
  taken: Promise<void> | undefined
  /** Called once the run's observers know that it is over. */
  onOver: () => void = () => {}
  /** Ids of the run's user messages. */
  readonly messageIds: readonly string[]
  /** Ids of the run's messages that are not in the conversation yet. */
  readonly pendingMessageIds: string[]
  readonly #isContinuation: boolean
  readonly #tools: ClientTools
  readonly #isLook: boolean
  #agentRunId: string | undefined
  /** `ending`: the run's end waits for the store. `over`: the end may be sent. */
  #state: 'opening' | 'running' | 'ending' | 'over' = 'opening'
  #ending: Ending | undefined
  #backlog: Backlog | undefined
  #spentBefore: Spent
  #usage: Usage

  constructor(activity: ThreadActivity, runId: string, start: RunStart) {
    const {
      messageIds = [],
      isContinuation = false,
      agentRunId,
      usage = noUsage,
      tools = noTools,
      isLook = false,
    } = start
    this.activity = activity
    this.runId = runId
    this.messageIds = messageIds
    this.pendingMessageIds = [...messageIds]
    this.#backlog = { before: activity.messages(), events: [] }
    this.#isContinuation = isContinuation
    this.#tools = tools
    this.#isLook = isLook
    this.#agentRunId = agentRunId
    this.#usage = usage
    this.#spentBefore = activity.agent.spent
  }

  /** True once the agent works on this run; before that, the run waits for earlier ones. */
  get isLive(): boolean {
    return this.#isContinuation || this.#agentRunId !== undefined
  }

  /** True once the end of the run may be sent. */
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

  /** Aborts the run because its client has left, unless others observe the run or it is over. */
  leftBy(observer?: RunObserver): void {
    const isSeen = [...this.observers].some((other) => other !== observer)
    if (this.#isLook || this.#ending !== undefined || isSeen) return
    const { agent } = this.activity
    if (this.isLive) agent.abort()
    else agent.dispatch({ type: 'agent.abort', agentId: agent.id, run: requestIdOf(this.runId) })
  }

  /** Starts the run, after all its commands have been dispatched. */
  opened(): void {
    if (this.#state === 'opening') this.#state = 'running'
    this.#checkInterrupt()
  }

  /** Returns the events from before the first observer, which alone gets them, and stops recording. */
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
    if (isShown && isRoot && event.type === 'run.end' && !isCutOff(agent, event)) {
      this.finish(endingOf(agent, event, this.activity.lastText([event.runId])))
      // It is the last event of a step: those that led to the interrupt have been sent.
    } else if (event.type === 'state.changed') {
      // The log does not always say that an agent was closed.
      if (isRoot && event.state === 'stopped') this.finish({ type: 'cancelled' })
      this.#checkInterrupt()
    }
  }

  /** Ends the run. The first ending counts. It is sent once the store has the records before it. */
  finish(ending: Ending): void {
    if (this.#ending !== undefined) return
    const { agent } = this.activity
    this.#state = 'ending'
    this.#ending = ending
    this.#usage = addUsage(this.#usage, lessSpent(agent.spent, this.#spentBefore).usage)
    const over = (): void => this.#finished()
    const pending = agent.durable()
    // If the store fails, the agent pauses and says so.
    if (pending === undefined) over()
    else pending.then(over, over)
  }

  /** Returns the client's id of a message that joined the conversation, if it is the next one of this run. */
  messageIdFor(event: EventOf<'message.added'>): string | undefined {
    return event.message.source !== 'steering' && this.#isMine(event) ? this.pendingMessageIds.shift() : undefined
  }

  #start({ requestId, runId, resumedFrom }: EventOf<'run.start'>): void {
    const isOwn = requestId === requestIdOf(this.runId)
    if (isOwn || this.#isContinuation) this.#agentRunId ??= runId
    // It was cut off, and goes on.
    if (resumedFrom !== undefined && resumedFrom === this.#agentRunId) this.#agentRunId = runId
    if (isOwn) this.#spentBefore = this.activity.agent.spent
  }

  /** True if an event of the agent belongs to this run. */
  #isMine(event: AgentEvent): boolean {
    if (!('runId' in event)) return this.isLive
    if (this.#isContinuation) this.#agentRunId ??= event.runId
    return event.runId === this.#agentRunId
  }

  /** Ends the run with an interrupt if nothing can continue before a decision. */
  #checkInterrupt(): void {
    const { agent } = this.activity
    if (this.#state !== 'running' || !this.isLive || !awaitsDecision(agent)) return
    this.finish(waitEnding(agent, this.#tools))
  }

  #finished(): void {
    this.#state = 'over'
    for (const observer of this.observers) observer.over()
    this.onOver()
  }
}
