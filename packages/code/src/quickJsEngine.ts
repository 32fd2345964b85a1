import { Worker } from 'node:worker_threads'
import { packageMissing } from '../../../src/protocol/ports/loadPeer.ts'
import { quietClock, type Clock } from '../../../src/protocol/ports/clock.ts'
import type { CodeEngine, OpenScript, Script, ScriptListener } from './engine.ts'
import type { FromScript, ScriptWorkerData, ToScript } from './scriptMessages.ts'
import { scriptWorkerUrl } from './scriptWorkerUrl.ts'

export interface QuickJsEngineOptions {
  /**
   * Milliseconds for which a script may block the engine's heartbeat: native functions, such as a sort of many rows,
   * cannot be interrupted. Then the engine is ended with that script, and the others begin again. Default 3,000.
   */
  readonly hangMs?: number
  readonly clock?: Clock
}

const defaultHangMs = 3_000
const startMs = 60_000
/** Milliseconds for which an engine without scripts is kept. */
const idleMs = 60_000
const heapMb = 512
const stackMb = 8

/**
 * Makes an engine that runs scripts in QuickJS: one worker thread for all of them, an instance for each. The thread is started for the first
 * script.
 *
 * @throws RuntimeError `PACKAGE_MISSING` without the package `quickjs-wasi`
 */
export const quickJsEngine = (options: QuickJsEngineOptions = {}): CodeEngine => new QuickJsEngine(options)

interface Entry {
  readonly script: Script
  readonly listener: ScriptListener
}

class QuickJsEngine implements CodeEngine {
  readonly #data = peer()
  readonly #hangMs: number
  readonly #clock: Clock
  readonly #scripts = new Map<number, Entry>()
  /** Scripts that the worker has messages for, in the order in which it handles them. */
  #awaited: number[] = []
  #worker: Worker | undefined
  #isReady = false
  #ids = 0
  #cancelTimer: (() => void) | undefined

  constructor({ hangMs = defaultHangMs, clock = quietClock }: QuickJsEngineOptions) {
    this.#hangMs = hangMs
    this.#clock = clock
  }

  open(script: Script, listener: ScriptListener): OpenScript {
    const id = (this.#ids += 1)
    this.#scripts.set(id, { script, listener })
    this.#send({ type: 'begin', id, script })
    return {
      answer: (answer) => this.#send({ type: 'answer', id, answer }),
      stop: () => {
        if (!this.#scripts.delete(id)) return
        this.#worker?.postMessage({ type: 'stop', id } satisfies ToScript)
        this.#watch()
      },
    }
  }

  async close(): Promise<void> {
    const worker = this.#worker
    if (worker === undefined) return
    this.#lose(worker, 'The engine was closed.', () => true)
    await worker.terminate()
  }

  #send(message: Exclude<ToScript, { type: 'stop' }>): void {
    if (!this.#scripts.has(message.id)) return
    const worker = (this.#worker ??= this.#start())
    this.#awaited.push(message.id)
    worker.postMessage(message)
    // Only the first has to be watched: the others wait for it.
    if (this.#awaited.length === 1) this.#watch()
  }

  #start(): Worker {
    this.#isReady = false
    const worker = new Worker(scriptWorkerUrl, {
      workerData: this.#data,
      env: {},
      // Node warns of what takes types away.
      execArgv: ['--disable-warning=ExperimentalWarning'],
      resourceLimits: { maxOldGenerationSizeMb: heapMb, stackSizeMb: stackMb },
    })
    worker.on('message', (message: FromScript) => this.#hear(worker, message))
    worker.on('error', () => this.#lose(worker, 'It brought the engine down.'))
    worker.on('exit', () => this.#lose(worker, 'It brought the engine down.'))
    return worker
  }

  #hear(worker: Worker, message: FromScript): void {
    if (worker !== this.#worker) return
    if (message.type === 'ready') this.#isReady = true
    if (message.type === 'ran') {
      const id = this.#awaited.shift()!
      const entry = this.#scripts.get(id)
      if (message.step.end !== undefined) this.#scripts.delete(id)
      this.#watch()
      entry?.listener.ran(message.step)
      return
    }
    this.#watch()
  }

  /** Begins to wait for the next heartbeat, or for the next script. */
  #watch(): void {
    this.#cancelTimer?.()
    const worker = this.#worker
    if (worker === undefined) return
    if (this.#awaited.length > 0) {
      worker.ref()
      const why = `It kept the engine from everything else for more than ${this.#hangMs} ms in a single step, such as a sort or a join.`
      this.#cancelTimer = this.#clock.after(this.#isReady ? this.#hangMs : startMs, () => this.#end(worker, why))
      return
    }
    worker.unref()
    if (this.#scripts.size === 0) this.#cancelTimer = this.#clock.after(idleMs, () => this.#end(worker))
  }

  #end(worker: Worker, why?: string): void {
    this.#lose(worker, why)
    void worker.terminate()
  }

  /** Forgets the worker, and tells all scripts: the one it was running gets the reason, and the others may begin again. */
  #lose(worker: Worker, why?: string, isOver: (id: number, current?: number) => boolean = isCurrent): void {
    if (worker !== this.#worker) return
    this.#worker = undefined
    this.#cancelTimer?.()
    const [current] = this.#awaited
    this.#awaited = []
    const lost = [...this.#scripts]
    this.#scripts.clear()
    for (const [id, { listener }] of lost) listener.lost(isOver(id, current) ? why : undefined)
  }
}

const isCurrent = (id: number, current?: number): boolean => id === current

/** @throws RuntimeError `PACKAGE_MISSING` */
function peer(): ScriptWorkerData {
  try {
    return { module: import.meta.resolve('quickjs-wasi'), wasm: import.meta.resolve('quickjs-wasi/quickjs.wasm') }
  } catch (thrown) {
    throw packageMissing(thrown, 'codeTool', 'quickjs-wasi')
  }
}
