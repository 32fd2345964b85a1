import { EventType, PROTOCOL_VERSION, type Event, type Interrupt, type Message, type RunAgentInput } from '@ag-ui/core'
import type { AgentEvent, EventOf } from '../../../src/protocol/events.ts'
import type { AgUiRun } from './agUiRun.ts'
import { isCutOff } from '../../bridge/src/server/drivenAgent.ts'
import { DurableSink, type Sink } from '../../bridge/src/streams/durableSink.ts'
import { endingNow, lastEvent, lostEvent, type Ending } from './endings.ts'
import { ReplyCursor } from './replyCursor.ts'
import {
  childKey,
  openChild,
  openStep,
  openText,
  writeAgUiEvents,
  type EventWriter,
  type Piece,
} from './writeAgUiEvents.ts'
import { OpenParts } from './openParts.ts'
import { replyMessageId, thinkingMessageId } from './ids.ts'
import { agree, comesOutRight, unsaid } from './threadMessages.ts'
import { shownStateOf, stateChange, type ShownState } from './threadState.ts'

/** Frequent events that never change the state. */
const isStill = (event: AgentEvent): boolean =>
  event.type.endsWith('.delta') || event.type === 'tool.progress' || event.type === 'turn.request'

const isOfConversation = ({ type }: AgentEvent): boolean =>
  type === 'message.added' || type === 'reply.end' || type === 'tool.end'

/**
 * One run as one client sees it. A slow client gets nothing until it has read everything sent, and then the current
 * state, so missed events take no memory.
 */
export class RunView implements EventWriter {
  readonly parts: OpenParts
  readonly #run: AgUiRun
  readonly #sink: DurableSink<Event>
  readonly #cursor: ReplyCursor
  #threadState: ShownState | undefined
  /** True for a client older than 1.0, which does not send its version. */
  #isOld = false
  /** True once an earlier run has changed the conversation while this one waits for its turn. */
  #hasMissed = false
  /** `behind`: nothing is written before the client has read. `outdated`: it has also missed more than deltas. */
  #state: 'live' | 'behind' | 'outdated' | 'closed' = 'live'

  constructor(run: AgUiRun, sink: Sink<Event>) {
    this.#run = run
    this.#sink = new DurableSink(sink, run.activity.agent, [lostEvent])
    this.parts = new OpenParts((event) => this.write(event))
    this.#cursor = new ReplyCursor(this)
  }

  get rootId(): string {
    return this.#run.activity.agent.id
  }

  /** Sends the current state, then events. `messages`: those that the client has. Tools that the agent does not know are ignored. */
  start({
    messages: shown,
    tools,
    protocolVersion,
  }: Pick<RunAgentInput, 'messages' | 'tools' | 'protocolVersion'>): void {
    this.#isOld = protocolVersion === undefined
    const { activity, runId } = this.#run
    const threadId = this.rootId
    this.write({ type: EventType.RUN_STARTED, threadId, runId, protocolVersion: PROTOCOL_VERSION })
    const names = tools.map(({ name }) => name).filter((name) => !activity.agent.clientTools.includes(name))
    if (names.length > 0) {
      this.write({ type: EventType.CUSTOM, name: 'escapement.tools.ignored', value: { names } })
    }
    const backlog = this.#run.takeBacklog()
    const isFresh = backlog !== undefined && agree(shown, [...backlog.before, ...unsaid(this.#run.messageIds)])
    // New messages join the conversation only when their run starts.
    const isSame =
      isFresh ||
      (!this.#hasPartialReply && agree(shown, [...activity.messages(), ...unsaid(this.#run.pendingMessageIds)]))
    if (!isSame) this.#rewrite(shown)
    this.#writeState()
    if (isFresh) for (const { event, isShown } of backlog.events) this.take(event, isShown)
    if (this.#state === 'live') this.#openParts()
    this.#run.observers.add(this)
    this.#pauseIfFull()
    const { isOver, ending } = this.#run
    if (isOver && ending !== undefined) this.over(endingNow(activity.agent, ending))
  }

  /** True until the run's end has been sent, or the client has left. */
  get isOpen(): boolean {
    return this.#state !== 'closed'
  }

  /** Closes the view after the client has left. The run continues. */
  close(): void {
    this.#state = 'closed'
    this.#run.observers.delete(this)
    this.#sink.drop()
  }

  /** Tells the client that the server is shutting down, and ends the stream. */
  leave(): void {
    if (this.#state === 'closed') return
    const message = 'The server shuts down. Ask for the run with its runId again, here or where its log is served next.'
    this.#end({ type: EventType.RUN_ERROR, code: 'SERVER_CLOSED', message })
  }

  #end(last: Event): void {
    this.write(last)
    this.#state = 'closed'
    this.#run.observers.delete(this)
    this.#sink.end()
  }

  take(event: AgentEvent, isShown: boolean): void {
    if (this.#state === 'behind' && !event.type.endsWith('.delta')) this.#state = 'outdated'
    if (this.#state !== 'live') return
    if (!isShown && event.agentId === this.rootId && isOfConversation(event)) this.#hasMissed = true
    if (isShown && event.type === 'message.added' && this.#hasMissed) {
      this.#hasMissed = false
      this.rewrite()
    }
    if (isShown) writeAgUiEvents(event, this)
    // What was streamed of its reply goes.
    if (isShown && isCutOff(this.#run.activity.agent, event)) this.#startOver()
    if (!isStill(event)) this.#writeState()
    this.#pauseIfFull()
  }

  /** Sends the end of the run, at once or when the client has caught up. */
  over(ending: Ending | undefined = this.#run.ending): void {
    const { runId, usage } = this.#run
    if (this.#state !== 'live' || ending === undefined) return
    this.#writeState()
    if (ending.type !== 'error') {
      if (ending.type === 'interrupt') this.#suspendChildren(ending.interrupts)
      this.parts.closeAll()
    }
    this.#end(lastEvent(ending, { threadId: this.rootId, runId }, usage, this.#isOld))
  }

  write(event: Event): void {
    if (this.#state !== 'closed') this.#sink.write(event)
  }

  rewrite(): void {
    this.#rewrite([])
  }

  get isFull(): boolean {
    return this.#sink.isFull
  }

  pull(agentId: string, newest?: Piece): boolean {
    const partial = this.#run.activity.replies.get(agentId)
    return partial === undefined || this.#cursor.pull(agentId, partial, newest)
  }

  unseenMessageId(event: EventOf<'message.added'>): string | undefined {
    return this.#run.activity.unseenMessageId(event)
  }

  childOf(call: { readonly agentId: string; readonly callId: string }): string | undefined {
    return this.#run.activity.childOf(call)
  }

  /** Sends the conversation, with the reply under way so far. */
  #rewrite(shown: readonly Message[]): void {
    const { activity, isLive } = this.#run
    const kept = shown.filter(({ role }) => role === 'system' || role === 'developer')
    const messages = [...kept, ...activity.messages()]
    const partial = isLive ? activity.replies.get(this.rootId) : undefined
    if (partial !== undefined) {
      const id = replyMessageId(this.rootId, partial.turnIndex)
      if (partial.thinking !== '')
        messages.push({ id: thinkingMessageId(id, partial.attempt), role: 'reasoning', content: partial.thinking })
      if (partial.text !== '') messages.push({ id, role: 'assistant', content: partial.text })
    }
    if (!comesOutRight(shown, messages)) {
      // It has to start empty. Clients keep reasoning messages unless the snapshot has some.
      const nothing: Message = { id: `${this.rootId}/nothing`, role: 'reasoning', content: '' }
      const isThinking = messages.some(({ role }) => role === 'reasoning')
      this.write({ type: EventType.MESSAGES_SNAPSHOT, messages: isThinking ? [...kept, nothing] : kept })
    }
    this.write({ type: EventType.MESSAGES_SNAPSHOT, messages })
    if (partial !== undefined) this.#cursor.skip(this.rootId, partial)
  }

  /** Opens the parts under way. The preceding snapshot has their content so far. */
  #openParts(): void {
    const { activity, isLive } = this.#run
    if (!isLive) return
    for (const child of activity.children.values()) openChild(this, child)
    for (const [agentId, turnIndex] of activity.turns) openStep(this, { agentId, turnIndex })
    for (const [agentId, { turnIndex, text }] of activity.replies) {
      // It is in the snapshot, and continues there.
      if (this.pull(agentId) && text !== '') openText(this, { agentId, turnIndex })
    }
  }

  /** True while a reply is being written. The client may have a part of it, and gets it again from the start. */
  get #hasPartialReply(): boolean {
    return this.#run.isLive && this.#run.activity.replies.has(this.rootId)
  }

  #writeState(): void {
    const state = shownStateOf(this.#run.activity.agent)
    const before = this.#threadState
    this.#threadState = state
    if (before === undefined) return this.write({ type: EventType.STATE_SNAPSHOT, snapshot: state })
    const delta = stateChange(before, state)
    if (delta.length > 0) this.write({ type: EventType.STATE_DELTA, delta })
  }

  /** Pauses while the client does not read. */
  #pauseIfFull(): void {
    if (this.#state !== 'live' || !this.#sink.isFull) return
    this.#state = 'behind'
    this.#sink.onDrain(() => this.#catchUp())
  }

  /** Sends the conversation, with everything that the client missed, once it reads again. */
  #catchUp(): void {
    if (this.#state === 'closed') return
    const isOutdated = this.#state === 'outdated'
    this.#state = 'live'
    if (isOutdated) this.#startOver()
    this.#writeState()
    this.#openParts()
    if (this.#run.isOver) this.over()
    else this.#pauseIfFull()
  }

  /** Sends the current state in place of the missed events. */
  #startOver(): void {
    const { activity } = this.#run
    for (const childId of this.#announced) {
      this.parts.closeAll(`${childId} `)
      if (!activity.children.has(childId)) this.parts.close(childKey(childId))
    }
    this.parts.closeAll(`${this.rootId} `)
    this.#cursor.reset()
    this.#rewrite([])
  }

  /** Sub-agents that were announced to the client. */
  get #announced(): string[] {
    return this.parts.keys(childKey('')).map((key) => key.slice(childKey('').length))
  }

  #suspendChildren(interrupts: readonly Interrupt[]): void {
    for (const childId of this.#announced.toReversed()) {
      const interruptIds = interrupts.filter(({ subagentRunId }) => subagentRunId === childId).map(({ id }) => id)
      this.parts.closeAll(`${childId} `)
      this.parts.close(childKey(childId), {
        type: EventType.SUBAGENT_FINISHED,
        subagentRunId: childId,
        outcome: { type: 'suspended', interruptIds },
      })
    }
  }
}
