import { EventType, type RunAgentInput, type Event } from '@ag-ui/core'
import { RuntimeError } from '../../protocol/errors.ts'
import type { TextSocket } from '../bridge/endpoint.ts'
import type { AgentAccess } from '../bridge/agentAccess.ts'
import type { OpenRun } from './openRun.ts'
import { readInput } from './readInput.ts'
import { RunView } from './runView.ts'
import type { Sink } from './durableSink.ts'

/**
 * Speaks AG-UI over a WebSocket: each incoming text is a RunAgentInput, each outgoing one an event with its `threadId` and `runId`.
 * Runs start in the order of their requests, and several may be under way.
 */
export function overSocket(socket: TextSocket, access: AgentAccess, open: OpenRun): void {
  const sink = new SocketSink(socket, access.limits.highWaterBytes)
  const views = new Set<RunView>()
  let isClosed = false
  let waiting = 0
  let last: Promise<void> = Promise.resolve()

  const refuse = (thrown: unknown, ids: object): void => {
    const { code, message } = access.outward(thrown)
    if (!isClosed) sink.send({ type: EventType.RUN_ERROR, code, message }, ids)
  }

  async function begin(input: RunAgentInput): Promise<void> {
    const ids = { threadId: input.threadId, runId: input.runId }
    try {
      if (views.size >= access.limits.subscriptions) {
        throw new RuntimeError('BRIDGE_LIMIT', `${views.size} runs go on here, the most allowed.`)
      }
      const run = await open(input)
      if (isClosed) return void run.takeBacklog()
      const end = (): void => void views.delete(view)
      const view = new RunView(run, sink.of(ids, end))
      views.add(view)
      view.start(input)
    } catch (thrown) {
      refuse(thrown, ids)
    }
  }

  socket.onText((text) => {
    let input: RunAgentInput
    try {
      if (waiting >= access.limits.waitingCommands) {
        throw new RuntimeError('BRIDGE_LIMIT', `${waiting} runs wait to be begun, the most allowed.`)
      }
      input = readInput(text, access.limits.depth)
    } catch (thrown) {
      return refuse(thrown, {})
    }
    waiting += 1
    last = last.then(() => begin(input)).finally(() => (waiting -= 1))
  })
  socket.onClose(() => {
    isClosed = true
    sink.close()
    for (const view of views) view.close()
  })
}

/** The sinks of one socket's runs, which share its buffer: while that is full, events wait for it to drain. */
class SocketSink {
  readonly #socket: TextSocket
  readonly #highWaterBytes: number
  #waiting: { readonly event: Event; readonly ids: object }[] = []
  readonly #onDrain = new Set<() => void>()

  constructor(socket: TextSocket, highWaterBytes: number) {
    this.#socket = socket
    this.#highWaterBytes = highWaterBytes
  }

  /** Sends an event at once; `ids` name its run. */
  send(event: Event, ids: object): void {
    this.#socket.send(JSON.stringify({ ...ids, ...event }), () => this.#flushWaiting())
  }

  /** The sink of one run; `onEnd`: there are no more events. */
  of(ids: { readonly threadId: string; readonly runId: string }, onEnd: () => void): Sink {
    const isFull = (): boolean => this.#isFull
    return {
      get isFull() {
        return isFull()
      },
      write: (event) => {
        if (this.#isFull) this.#waiting.push({ event, ids })
        else this.send(event, ids)
      },
      onDrain: (call) => void this.#onDrain.add(call),
      end: onEnd,
    }
  }

  /** The client has left. */
  close(): void {
    this.#waiting = []
    this.#onDrain.clear()
  }

  get #isFull(): boolean {
    return this.#waiting.length > 0 || this.#socket.bufferedAmount > this.#highWaterBytes
  }

  #flushWaiting(): void {
    while (this.#socket.bufferedAmount <= this.#highWaterBytes / 2) {
      const next = this.#waiting.shift()
      if (next === undefined) return this.#drained()
      this.send(next.event, next.ids)
    }
  }

  #drained(): void {
    const calls = [...this.#onDrain]
    this.#onDrain.clear()
    for (const call of calls) call()
  }
}
