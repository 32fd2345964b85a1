import { signal, type ReadonlySignal } from '@preact/signals'
import type { Client } from '../../../../../bridge/src/client/index.ts'
import type { AgentEvent } from '../../../../../../src/protocol/events.ts'
import type { FrameBatch } from '../agent/frameBatch.ts'
import type { Span } from './span.ts'
import { SpanFold, type SpanAnchor } from './spanFold.ts'

interface OpenLog {
  readonly fold: SpanFold
  isRead: boolean
  /** `seq` of the log's last record when it was opened; `undefined` if it is not known yet. */
  target: number | undefined
  readonly unsubscribe: () => void
}

/** Spans of the logs of sub-agents. Logs are read and followed while they are open, but only their spans are kept. Close it. */
export class SpanLogs {
  readonly #client: Client
  readonly #batch: FrameBatch
  readonly #logs = new Map<string, OpenLog>()
  readonly #version = signal(0)
  readonly #publish = (): void => void (this.#version.value += 1)

  constructor(client: Client, batch: FrameBatch) {
    this.#client = client
    this.#batch = batch
  }

  /** Number that changes with the spans, at most once a frame. */
  get version(): ReadonlySignal<number> {
    return this.#version
  }

  /** Returns the spans of an open log. `key`: key of the log's row. */
  of(key: string): { readonly roots: readonly Span[]; readonly isRead: boolean } | undefined {
    const log = this.#logs.get(key)
    return log === undefined ? undefined : { roots: log.fold.roots, isRead: log.isRead }
  }

  /** Opens the log of a sub-agent; a missing log has no spans. Idempotent. */
  open(key: string, agentId: string, anchor: SpanAnchor): void {
    if (this.#logs.has(key)) return
    const take = (event: AgentEvent): void => {
      if (event.agentId !== agentId) return
      log.fold.take(event)
      if (log.target !== undefined && event.seq >= log.target) log.isRead = true
      if (log.isRead) this.#batch.add(this.#publish)
    }
    const agent = this.#client.agent(agentId)
    const unsubscribe = agent.subscribe(take, { fromSeq: 1, deltas: false })
    const log: OpenLog = { fold: new SpanFold(anchor), isRead: false, target: undefined, unsubscribe }
    this.#logs.set(key, log)
    const read = (seq: number): void => {
      log.target = seq
      log.isRead ||= seq === 0 || log.fold.seq >= seq
      if (this.#logs.get(key) === log) this.#batch.add(this.#publish)
    }
    agent.snapshot().then(
      ({ seq }) => read(seq),
      () => read(0),
    )
  }

  /** Closes all logs except those of these rows. */
  keep(keys: ReadonlySet<string>): void {
    for (const [key, { unsubscribe }] of this.#logs) {
      if (keys.has(key)) continue
      unsubscribe()
      this.#logs.delete(key)
    }
  }

  close(): void {
    this.keep(new Set())
    this.#batch.remove(this.#publish)
  }
}

/** Spans of a growing list of events; each call looks only at new events. */
export class SpanSource {
  #source: readonly AgentEvent[] = []
  #seen = 0
  #fold = new SpanFold()

  /** Returns the fold of the first `count` events; the same object as long as the list only grows. */
  of(source: readonly AgentEvent[], count: number): SpanFold {
    if (source !== this.#source || count < this.#seen) {
      this.#source = source
      this.#seen = 0
      this.#fold = new SpanFold()
    }
    for (; this.#seen < count; this.#seen++) this.#fold.take(source[this.#seen]!)
    return this.#fold
  }
}
