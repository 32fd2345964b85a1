import type { Clock } from '../../../src/protocol/ports/clock.ts'
import type { AgentEvent } from '../../../src/protocol/events.ts'
import { isCutOff } from '../../bridge/src/server/drivenAgent.ts'
import { DurableSink, type Sink } from '../../bridge/src/streams/durableSink.ts'
import type { ChatThread, ChatWatcher } from './chatThread.ts'
import { cutMessage } from './cutMessage.ts'
import { abortedEnding, endingOf, lostChunks, writeEnding, type Ending } from './endings.ts'
import type { Exchange } from './exchange.ts'
import { UiCursor } from './uiCursor.ts'
import type { UiMessageChunk, UiMessagePart } from './uiTypes.ts'

export interface ChatViewOptions {
  readonly thread: ChatThread
  readonly sink: Sink<UiMessageChunk>
  readonly clock: Clock
  /** The exchange to show; it may still wait for its turn. */
  readonly requestId: string
  /** Parts of the exchange's message that the client already has. */
  readonly shown?: readonly UiMessagePart[]
}

/** Content of an exchange that has not begun. */
const notBegun: Pick<Exchange, 'entries' | 'stateParts'> = { entries: [], stateParts: [] }

/** Milliseconds between two previews of a working sub-agent. */
const previewMs = 250

/**
 * One exchange as one client sees it, until it ends or people have to decide. A client that does not read is sent nothing; once it reads,
 * it gets the missing content.
 */
export class ChatView implements ChatWatcher {
  readonly #options: ChatViewOptions
  readonly #sink: DurableSink<UiMessageChunk>
  readonly #cursor: UiCursor
  #ending: Ending | undefined
  #state: 'live' | 'behind' | 'closed' = 'live'
  /** Sub-agents that did something since they were shown last. */
  readonly #changed = new Set<string>()
  #cancelPreviews: (() => void) | undefined

  constructor(options: ChatViewOptions) {
    this.#options = options
    this.#sink = new DurableSink(options.sink, options.thread.agent, lostChunks)
    this.#cursor = new UiCursor(this, options.shown)
  }

  /** The exchange, once it has begun. */
  get #exchange(): Exchange | undefined {
    const { exchange } = this.#options.thread
    return exchange?.requestId === this.#options.requestId ? exchange : undefined
  }

  get isFull(): boolean {
    return this.#sink.isFull
  }

  write(chunk: UiMessageChunk): void {
    this.#sink.write(chunk)
  }

  /** Sends the current content, then everything that follows. */
  start(): void {
    const { thread, requestId } = this.#options
    thread.add(this)
    this.write({ type: 'start', messageId: `${thread.agent.id}/${requestId}` })
    for (const childId of thread.fold.called) this.#changed.add(childId)
    this.#pull()
    this.#showPreviews()
    const { end } = this.#exchange ?? {}
    if (end !== undefined && !isCutOff(thread.agent, end)) this.#finish(endingOf(this.#exchange!))
    else if (this.#exchange !== undefined && thread.isWaiting) this.wait()
  }

  /** Called with each event, after the exchange has taken it. */
  take(event: AgentEvent): void {
    const { thread, requestId } = this.#options
    const exchange = this.#exchange
    if (event.type === 'queue.changed' && event.why === 'dropped' && event.removed?.includes(requestId) === true)
      return this.abort()
    if (exchange === undefined || this.#ending !== undefined) return
    this.#pull()
    if (event.agentId !== thread.agent.id) return this.#takeBelow(event)
    if (event.type === 'tool.progress') this.#progress(exchange, event)
    else if (event.type === 'run.end' && !isCutOff(thread.agent, event)) this.#finish(endingOf(exchange))
  }

  /** Called when nothing can continue before people decide. */
  wait(): void {
    if (this.#exchange !== undefined) this.#finish({ finishReason: 'tool-calls' })
  }

  /** Called when the exchange will not continue: the agent is gone, or the prompt was withdrawn. */
  abort(): void {
    this.#finish(abortedEnding)
  }

  /** Closes the view after the client has left; the run continues. */
  close(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#cancelPreviews?.()
    this.#sink.drop()
    this.#options.thread.remove(this)
  }

  #finish(ending: Ending): void {
    this.#ending ??= ending
    this.#cancelPreviews?.()
    this.#pull()
  }

  #pull(): void {
    if (this.#state !== 'live') return
    const isCaughtUp = this.#cursor.pull(this.#exchange ?? notBegun)
    if (!isCaughtUp) {
      this.#state = 'behind'
      this.#sink.onDrain(() => this.#goOn())
    } else if (this.#ending !== undefined) this.#end(this.#ending)
  }

  /** Called when the client has read everything that was sent. */
  #goOn(): void {
    if (this.#state !== 'behind') return
    this.#state = 'live'
    this.#pull()
  }

  #end(ending: Ending): void {
    this.#cursor.end()
    writeEnding(ending, this.#exchange, { write: (chunk) => this.write(chunk) })
    this.#sink.end()
    this.#state = 'closed'
    this.#options.thread.remove(this)
  }

  #progress(exchange: Exchange, { agentId, callId, progress }: Extract<AgentEvent, { type: 'tool.progress' }>): void {
    const call = exchange.callOf(agentId, callId)
    if (call === undefined || this.#state !== 'live' || this.isFull) return
    this.write({ type: 'data-progress', id: call.toolCallId, data: progress, transient: true })
  }

  #takeBelow({ path, agentId }: AgentEvent): void {
    const { thread, clock } = this.#options
    const childId = path[path.indexOf(thread.agent.id) + 1] ?? agentId
    this.#changed.add(childId)
    if (this.#ending !== undefined) return
    this.#cancelPreviews ??= clock.after(previewMs, () => {
      this.#cancelPreviews = undefined
      this.#showPreviews()
    })
  }

  /** Shows the progress of sub-agents as the output of the calls that they carry out. */
  #showPreviews(): void {
    if (this.#state !== 'live' || this.#ending !== undefined || this.isFull) return
    for (const childId of this.#changed) {
      const preview = this.#options.thread.fold.previewOf(childId)
      if (preview === undefined) continue
      const output = cutMessage(preview.message)
      this.write({ type: 'tool-output-available', toolCallId: preview.toolCallId, output, preliminary: true })
    }
    this.#changed.clear()
  }
}
