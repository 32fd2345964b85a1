import type { Message } from '@ag-ui/core'
import { addUsage, noUsage, type Usage } from '../../protocol/messages.ts'
import type { AgentEvent, EventOf } from '../../protocol/events.ts'
import { lessSpent } from '../../sessions/spent.ts'
import type { Spent } from '../../protocol/records.ts'
import { approvalInterrupts, awaitsDecision, endingOf, type Ending } from './endings.ts'
import { requestName } from './names.ts'
import { userName } from './threadMessages.ts'
import type { RunView } from './runView.ts'
import type { Thread } from './thread.ts'

/** What a run is begun with. */
interface Beginning {
  /** Ids of the user messages it says, in order. */
  readonly saying?: readonly string[]
  /** It goes on with what is under way, and need not wait for a run of its own to start. */
  readonly goesOn?: boolean
  /** The run of the agent that it is already, and what that has used. */
  readonly agentRunId?: string | undefined
  readonly usage?: Usage
}

/** What there was before anybody looked at a run. */
interface Early {
  /** The conversation before it. */
  readonly before: readonly Message[]
  readonly events: { readonly event: AgentEvent; readonly isShown: boolean }[]
}

/** A run as AG-UI counts them: from a request of a client to its end, or to a question in the middle. */
export class AgUiRun {
  readonly thread: Thread
  readonly runId: string
  readonly views = new Set<RunView>()
  /** Ids of user messages that were said and are not in the conversation yet. */
  readonly waiting: string[]
  /** Ids of the user messages it says. */
  readonly saying: readonly string[]
  readonly #goesOn: boolean
  #agentRunId: string | undefined
  #ending: Ending | undefined
  #isOver = false
  #isOpening = true
  #early: Early | undefined
  #before: Spent
  #usage: Usage

  constructor(thread: Thread, runId: string, beginning: Beginning) {
    const { saying = [], goesOn = false, agentRunId, usage = noUsage } = beginning
    this.thread = thread
    this.runId = runId
    this.waiting = [...saying]
    this.saying = saying
    this.#early = { before: thread.messages(), events: [] }
    this.#goesOn = goesOn
    this.#agentRunId = agentRunId
    this.#usage = usage
    this.#before = thread.agent.spent
  }

  /** Whether what the agent does now is this run; before, it waits for those ahead of it. */
  get isLive(): boolean {
    return this.#goesOn || this.#agentRunId !== undefined
  }

  /** Whether its end may be told. */
  get isOver(): boolean {
    return this.#isOver
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
    this.#isOpening = false
    this.#look()
  }

  /** What happened before anybody could look; only for the first who asks. Nothing is kept after. */
  takeEarly(): Early | undefined {
    const early = this.#early
    this.#early = undefined
    return early
  }

  take(event: AgentEvent): void {
    if (this.#ending !== undefined) return
    const isRoot = event.agentId === this.thread.agent.id
    if (isRoot && event.type === 'run.start' && (event.requestId === requestName(this.runId) || this.#goesOn)) {
      this.#agentRunId ??= event.runId
      if (event.requestId === requestName(this.runId)) this.#before = this.thread.agent.spent
    }
    const isShown = isRoot ? this.#isMine(event) : this.isLive && this.thread.children.has(event.agentId)
    for (const view of this.views) view.take(event, isShown)
    this.#early?.events.push({ event, isShown })
    if (isShown && isRoot && event.type === 'run.end') {
      this.finish(endingOf(this.thread.agent, event, this.thread.lastText([event.runId])))
      // It is the last event of a step: those that led to the question have been told.
    } else if (event.type === 'state.changed') {
      // An agent that was closed has not always a word of it in its log.
      if (isRoot && event.state === 'stopped') this.finish({ type: 'cancelled' })
      this.#look()
    }
  }

  /** Ends it; the first ending counts. It is told once the store has what led to it. */
  finish(ending: Ending): void {
    if (this.#ending !== undefined) return
    this.#ending = ending
    this.#usage = addUsage(this.#usage, lessSpent(this.thread.agent.spent, this.#before).usage)
    const pending = this.thread.agent.durable()
    // A store that fails is told of by the agent, which pauses.
    if (pending === undefined) this.#tell()
    else
      pending.then(
        () => this.#tell(),
        () => this.#tell(),
      )
  }

  /** Id of a message that the client does not have; `undefined`: it is one of those it sent. */
  unseenName(event: EventOf<'message.added'>): string | undefined {
    if (this.thread.isKnown(event)) return undefined
    return userName(this.thread.agent.id, { id: event.nodeId }, this.thread.names)
  }

  /** The client's id of a message that became part of the conversation, when it is the next of those this run says. */
  nameFor(event: EventOf<'message.added'>): string | undefined {
    return event.message.source !== 'steering' && this.#isMine(event) ? this.waiting.shift() : undefined
  }

  /** Whether an event of the agent is of this run. */
  #isMine(event: AgentEvent): boolean {
    if (!('runId' in event)) return this.isLive
    if (this.#goesOn) this.#agentRunId ??= event.runId
    return event.runId === this.#agentRunId
  }

  #look(): void {
    const { agent } = this.thread
    if (this.#isOpening || !this.isLive || this.#ending !== undefined || !awaitsDecision(agent)) return
    this.finish({ type: 'interrupt', interrupts: approvalInterrupts(agent) })
  }

  #tell(): void {
    this.#isOver = true
    for (const view of this.views) view.over()
    this.thread.ended(this)
  }
}
