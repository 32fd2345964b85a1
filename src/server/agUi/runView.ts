import { EventType, PROTOCOL_VERSION, type Event, type Interrupt, type Message } from '@ag-ui/core'
import type { AgentEvent, EventOf } from '../../protocol/events.ts'
import type { AgUiRun } from './agUiRun.ts'
import { DurableSink } from './durableSink.ts'
import { endingNow, lastEvent, type Ending } from './endings.ts'
import { GrowingCursor } from './growingCursor.ts'
import { childKey, openChild, openStep, openText, translate, type Page, type Piece } from './translate.ts'
import { OpenParts } from './openParts.ts'
import { replyName, thinkingName } from './names.ts'
import type { Sink } from './sink.ts'
import { agree } from './threadMessages.ts'
import { stateChange, threadStateOf, type ThreadState } from './threadState.ts'

const users = (ids: readonly string[]): Message[] => ids.map((id) => ({ id, role: 'user', content: '' }))

/** Events after which the state cannot be another one: those that come by the hundred. */
const isStill = (event: AgentEvent): boolean =>
  event.type.endsWith('.delta') || event.type === 'tool.progress' || event.type === 'turn.request'

/**
 * One run as one client sees it. A client that reads slowly gets nothing until it has caught up, and then how things stand: its
 * memory is what its connection holds, not what it missed.
 */
export class RunView implements Page {
  readonly parts: OpenParts
  readonly #run: AgUiRun
  readonly #sink: DurableSink
  readonly #cursor: GrowingCursor
  #state: ThreadState | undefined
  /** It missed more than pieces of replies under way. */
  #hasMissed = false
  #isBehind = false
  #isClosed = false

  constructor(run: AgUiRun, sink: Sink) {
    this.#run = run
    this.#sink = new DurableSink(sink, run.thread.agent)
    this.parts = new OpenParts((event) => this.write(event))
    this.#cursor = new GrowingCursor(this)
  }

  get rootId(): string {
    return this.#run.thread.agent.id
  }

  /** Begins: tells how things stand, then what happens. `shown`: the messages the client has. */
  start(shown: readonly Message[], ignoredTools: readonly string[]): void {
    const { thread, runId } = this.#run
    const threadId = this.rootId
    this.write({ type: EventType.RUN_STARTED, threadId, runId, protocolVersion: PROTOCOL_VERSION })
    if (ignoredTools.length > 0) {
      this.write({ type: EventType.CUSTOM, name: 'escapement.tools.ignored', value: { names: ignoredTools } })
    }
    const early = this.#run.takeEarly()
    const isFresh = early !== undefined && agree(shown, [...early.before, ...users(this.#run.saying)])
    // What was just said is not in the conversation before its run begins.
    const isSame = isFresh || (!this.#isGrowing && agree(shown, [...thread.messages(), ...users(this.#run.waiting)]))
    if (!isSame) this.#rewrite(shown)
    this.#tellState()
    if (isFresh) for (const { event, isShown } of early.events) this.take(event, isShown)
    if (!this.#isBehind) this.#present()
    this.#run.views.add(this)
    this.#yield()
    const { isOver, ending } = this.#run
    if (isOver && ending !== undefined) this.over(endingNow(thread.agent, ending))
  }

  /** The client left: nothing of the run changes. */
  close(): void {
    this.#isClosed = true
    this.#run.views.delete(this)
    this.#sink.drop()
  }

  /** The server shuts down: says so and ends, wherever it is. */
  leave(): void {
    if (this.#isClosed) return
    const message = 'The server shuts down. Ask for the run with its runId again, here or where its log is served next.'
    this.#end({ type: EventType.RUN_ERROR, code: 'SERVER_CLOSED', message })
  }

  #end(last: Event): void {
    this.write(last)
    this.#isClosed = true
    this.#run.views.delete(this)
    this.#sink.end()
  }

  take(event: AgentEvent, isShown: boolean): void {
    if (this.#isBehind && !event.type.endsWith('.delta')) this.#hasMissed = true
    if (this.#isBehind || this.#isClosed) return
    if (isShown) translate(event, this)
    if (!isStill(event)) this.#tellState()
    this.#yield()
  }

  /** The run is over: tells so, at once or when the client has caught up. */
  over(ending: Ending | undefined = this.#run.ending): void {
    const { thread, runId, usage } = this.#run
    if (this.#isBehind || this.#isClosed || ending === undefined) return
    this.#tellState()
    if (ending.type !== 'error') {
      if (ending.type === 'interrupt') this.#suspendChildren(ending.interrupts)
      this.parts.closeAll()
    }
    this.#end(lastEvent(ending, { threadId: thread.agent.id, runId }, usage))
  }

  write(event: Event): void {
    if (!this.#isClosed) this.#sink.write(event)
  }

  rewrite(): void {
    this.#rewrite([])
  }

  get isFull(): boolean {
    return this.#sink.isFull
  }

  pull(agentId: string, newest?: Piece): boolean {
    const growing = this.#run.thread.growing.get(agentId)
    return growing === undefined || this.#cursor.pull(agentId, growing, newest)
  }

  unseenName(event: EventOf<'message.added'>): string | undefined {
    return this.#run.unseenName(event)
  }

  childOf(call: { readonly agentId: string; readonly callId: string }): string | undefined {
    return this.#run.thread.childOf(call)
  }

  /** Says what the conversation is, with what has come of the reply under way. */
  #rewrite(shown: readonly Message[]): void {
    const { thread, isLive } = this.#run
    const kept = shown.filter(({ role }) => role === 'system' || role === 'developer')
    const messages = [...kept, ...thread.messages()]
    const growing = isLive ? thread.growing.get(this.rootId) : undefined
    if (growing !== undefined) {
      const id = replyName(this.rootId, growing.turnIndex)
      if (growing.thinking !== '')
        messages.push({ id: thinkingName(id, growing.attempt), role: 'reasoning', content: growing.thinking })
      if (growing.text !== '') messages.push({ id, role: 'assistant', content: growing.text })
    }
    // A client keeps what it has where it stands and adds the rest: to be in order, it has to start from nothing.
    if (shown.some((message) => message.role !== 'system' && message.role !== 'developer')) {
      // Thoughts stay unless a snapshot has some.
      const nothing: Message = { id: `${this.rootId}/nothing`, role: 'reasoning', content: '' }
      const isThinking = messages.some(({ role }) => role === 'reasoning')
      this.write({ type: EventType.MESSAGES_SNAPSHOT, messages: isThinking ? [...kept, nothing] : kept })
    }
    this.write({ type: EventType.MESSAGES_SNAPSHOT, messages })
    if (growing !== undefined) this.#cursor.skip(this.rootId, growing)
  }

  /** Opens what is under way; the snapshot before has what came of it so far. */
  #present(): void {
    const { thread, isLive } = this.#run
    if (!isLive) return
    for (const child of thread.children.values()) openChild(this, child)
    for (const [agentId, turnIndex] of thread.turns) openStep(this, { agentId, turnIndex })
    for (const [agentId, { turnIndex, text }] of thread.growing) {
      // It is in the snapshot: what comes of it is added there.
      if (this.pull(agentId) && text !== '') openText(this, { agentId, turnIndex })
    }
  }

  /** Whether some of a reply has come: the client may have some of it, and is told from its beginning. */
  get #isGrowing(): boolean {
    return this.#run.isLive && this.#run.thread.growing.has(this.rootId)
  }

  #tellState(): void {
    const state = threadStateOf(this.#run.thread.agent)
    const before = this.#state
    this.#state = state
    if (before === undefined) return this.write({ type: EventType.STATE_SNAPSHOT, snapshot: state })
    const delta = stateChange(before, state)
    if (delta.length > 0) this.write({ type: EventType.STATE_DELTA, delta })
  }

  /** Stops while the client does not read. */
  #yield(): void {
    if (this.#isBehind || this.#isClosed || !this.#sink.isFull) return
    this.#isBehind = true
    this.#sink.onDrain(() => this.#catchUp())
  }

  /** The client reads again: everything it missed is in the conversation. */
  #catchUp(): void {
    if (this.#isClosed) return
    this.#isBehind = false
    if (this.#hasMissed) this.#startOver()
    this.#hasMissed = false
    this.#tellState()
    this.#present()
    if (this.#run.isOver) this.over()
    else this.#yield()
  }

  /** What was missed is not told piece by piece: how things stand is. */
  #startOver(): void {
    const { thread } = this.#run
    for (const childId of this.#told) {
      this.parts.closeAll(`${childId} `)
      if (!thread.children.has(childId)) this.parts.close(childKey(childId))
    }
    this.parts.closeAll(`${this.rootId} `)
    this.#cursor.reset()
    this.#rewrite([])
  }

  /** Sub-agents that were announced. */
  get #told(): string[] {
    return this.parts.keys(childKey('')).map((key) => key.slice(childKey('').length))
  }

  #suspendChildren(interrupts: readonly Interrupt[]): void {
    for (const childId of this.#told.toReversed()) {
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
