import { signal, type ReadonlySignal } from '@preact/signals'
import type { Client } from '../../client.ts'
import type { AgentEvent } from '../../protocol/events.ts'
import type { FrameBatch } from './frameBatch.ts'
import type { Span } from './span.ts'
import { SpanFold, type SpanAnchor } from './spanFold.ts'

interface OpenLog {
  readonly fold: SpanFold
  isRead: boolean
  /** `seq` of its last record when it was opened; `undefined`: not known yet. */
  target: number | undefined
  readonly unsubscribe: () => void
}

/** What took time in the logs of sub-agents: read while they are open, and followed; only spans are kept of them. Close it. */
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

  /** Changes with what is known, at most once a frame. */
  get version(): ReadonlySignal<number> {
    return this.#version
  }

  /** What is known of an open one; `key` is that of the row. */
  of(key: string): { readonly roots: readonly Span[]; readonly isRead: boolean } | undefined {
    const log = this.#logs.get(key)
    return log === undefined ? undefined : { roots: log.fold.roots, isRead: log.isRead }
  }

  /** Idempotent. One that is not there has nothing in it. */
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

  /** Forgets all but those that are still open. */
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

/** What took time in a list of events that grows: only what is new is looked at. */
export class SpanSource {
  #source: readonly AgentEvent[] = []
  #seen = 0
  #fold = new SpanFold()

  /** Of the first `count` events; the same fold as long as the list only grows. */
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
