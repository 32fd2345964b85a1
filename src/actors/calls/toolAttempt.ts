import type { z } from 'zod'
import type { CallInput } from '../../machines/effectTypes.ts'
import { cloneJson } from '../../protocol/checks/cloneJson.ts'
import type { ErrorInfo } from '../../protocol/errors.ts'
import { jsonChars } from '../../protocol/text/saidContent.ts'
import type { ToolResultMessage } from '../../protocol/messages.ts'
import type { Spent } from '../../protocol/records.ts'
import { abortReason } from '../timing/abortReason.ts'
import type { AgentPorts } from '../agentPorts.ts'
import { Asking, type AskPeople } from './asking.ts'
import type { Cancellation } from '../timing/cancellation.ts'
import { PausableTimer } from '../timing/pausableTimer.ts'
import type { Outcome } from './outcome.ts'
import { BoundCall } from '../tools/boundCall.ts'
import { RecallCall } from '../brakes/recall/recallTool.ts'
import { isOwn } from '../tools/ownTools.ts'
import { SourceTool } from '../tools/sourceTool.ts'
import { ConcludedValue, appData, noData, notJsonIn, type Conclude, type ToolValue } from '../tools/toolValue.ts'
import { stateDoor } from '../parts/state/stateDoor.ts'
import { clean } from './resultContent.ts'
import type { AnyTool, ToolContext } from '../tools/defineTool.ts'
import type { InnerCalls } from '../tools/innerCalls.ts'

/** A running call, as seen by the calls that it makes. */
export interface OuterCall {
  /** Aborted when the call is, and when its time is up. */
  readonly signal: AbortSignal
  /** Stops the time of the running call when a call that it makes begins to wait for people. */
  paused(): void
  resumed(): void
  /** Called when the store did not accept a record. The call must not continue and is to run again. */
  unwritten(error: ErrorInfo): void
  /** Called with everything that the call has used elsewhere so far. */
  used(spent: Spent): void
}

/** The parts of an attempt that differ for a call that the model did not make itself. */
interface AttemptParts {
  readonly ask?: AskPeople
  /** Returns the object that makes the inner calls of this call. Without it there are none. */
  readonly inner?: (ports: AgentPorts, input: CallInput, outer: OuterCall) => InnerCalls
}

const plain: AttemptParts = {}

/** One run of a tool under its time limit. */
export class ToolAttempt {
  readonly #ports: AgentPorts
  readonly #input: CallInput
  readonly #tool: AnyTool
  readonly #outer: Cancellation
  /** Aborted when the call is cancelled, and by the time limit. */
  readonly #controller = new AbortController()
  #changed: Set<string> | undefined
  #receipt: ToolResultMessage['receipt']
  #pins = false
  #given: Map<string, unknown> | undefined
  #isClosed = false
  #timer: PausableTimer | undefined
  #asking: Asking | undefined
  #unwritten: ErrorInfo | undefined
  #spent: Spent | undefined
  #giveUp: (() => void) | undefined
  readonly #parts: AttemptParts

  constructor(ports: AgentPorts, input: CallInput, tool: AnyTool, outer: Cancellation, parts: AttemptParts = plain) {
    this.#parts = parts
    this.#ports = ports
    this.#input = input
    this.#tool = tool
    this.#outer = outer
    outer.add(this.#abort)
    ports.kept.delete(input.callId)
    // Checking the arguments may already have aborted it.
    if (outer.aborted) this.#abort()
  }

  /** Returns the tool's return value; for a promise, one that also settles at the time limit or when the call is cancelled. */
  run(value: unknown): unknown {
    const { turnIndex, callId, name } = this.#input
    const offered = this.#ports.definition.tools.get(name)
    const origin = offered instanceof SourceTool ? { source: offered.offer.source } : {}
    const result = this.#ports.within({ type: 'tool', turnIndex, callId, ...origin }, () => this.#start(value))
    if (!isThenable(result)) return result
    const { timeoutMs } = (this.#input.background === undefined ? undefined : this.#tool.background) ?? this.#tool
    if (timeoutMs === Infinity) return Promise.resolve(result)
    return new Promise((resolve, reject) => {
      this.#timer = new PausableTimer(this.#ports.clock, timeoutMs, () => {
        const error = new Error(`Timed out after ${timeoutMs} ms. What it did so far was not undone.`)
        this.#controller.abort(error)
        reject(error)
      })
      this.#timer.resume()
      this.#giveUp = () => resolve(undefined)
      result.then(resolve, reject)
    })
  }

  #start(value: unknown): unknown {
    const { conclude } = this.#tool
    const result = this.#tool.run(value, this.#context())
    if (conclude !== undefined) return this.#conclude(conclude, result, value)
    const { signal } = this.#controller
    if (result instanceof RecallCall) return result.answer(this.#ports.conversation, signal)
    return result instanceof BoundCall
      ? (result as BoundCall<AgentPorts>).answer(this.#ports, signal, this.#calls)
      : result
  }

  readonly #calls = (): InnerCalls => {
    const { inner } = this.#parts
    if (inner === undefined) throw new Error('A call that another makes cannot make calls of its own.')
    const used = (spent: Spent): void => {
      this.#spent = spent
    }
    return inner(this.#ports, this.#input, { signal: this.#controller.signal, used, ...this.#waiting() })
  }

  #waiting(): Omit<OuterCall, 'signal' | 'used'> {
    return {
      paused: () => this.#timer?.pause(),
      resumed: () => {
        if (!this.#isClosed) this.#timer?.resume()
      },
      unwritten: (error) => {
        this.#unwritten = error
        this.#abort()
      },
    }
  }

  async #conclude(conclude: Conclude, result: unknown, input: unknown): Promise<ConcludedValue> {
    const value: unknown = await result
    const failed = (what: string, thrown: unknown): void => this.#ports.callbackFailed?.(what, thrown)
    return new ConcludedValue(await conclude(value, { callId: this.#input.callId, input, failed }))
  }

  /**
   * Returns the outcome with the files reported as changed and the receipt kept for undoing, even for a failed call,
   * and with its data: the value, joined with the data that the tool gave.
   */
  end(outcome: Outcome, value: Omit<ToolValue, 'shown'> = noData): Outcome {
    this.#isClosed = true
    this.#timer?.pause()
    this.#outer.remove(this.#abort)
    if (!this.#outer.aborted) this.#ports.kept.delete(this.#input.callId)
    // What it asked and did not wait for is over.
    if (this.#asking !== undefined) this.#controller.abort(abortReason())
    if (this.#unwritten !== undefined) return { ...outcome, notStarted: this.#unwritten }
    const more = outcome.isError ? noData : appData(value, this.#given, outcome)
    const isPlain = this.#changed === undefined && this.#receipt === undefined && !this.#pins
    if (more === noData && isPlain && this.#spent === undefined) return outcome
    return {
      ...outcome,
      ...clean(this.#ports, more),
      ...(this.#spent === undefined ? {} : { spent: this.#spent }),
      ...(this.#pins ? { pins: true } : {}),
      ...(this.#changed === undefined ? {} : { changed: [...this.#changed] }),
      ...(this.#receipt === undefined ? {} : { receipt: this.#receipt }),
    }
  }

  readonly #abort = (): void => {
    this.#controller.abort(abortReason())
    this.#giveUp?.()
  }

  #ask<Schema extends z.ZodType>(schema: Schema, question: string): Promise<z.output<Schema>> {
    // Nobody answers what is asked after the end.
    if (this.#isClosed) this.#controller.abort(abortReason())
    const answer = this.#questions().ask(schema, question)
    // A tool that does not wait for it must not bring the process down.
    answer.catch(() => {})
    return answer
  }

  /** Returns the questions of the call. Created for the first one, because most tools ask none. */
  #questions(): Asking {
    return (this.#asking ??= new Asking(this.#ports, this.#input, {
      signal: this.#controller.signal,
      ask: this.#parts.ask,
      ...this.#waiting(),
    }))
  }

  async #leaves(left: unknown): Promise<void> {
    const { background: id, callId, key, name } = this.#input
    if (id === undefined || this.#isClosed) return
    const data = cloneJson(left)
    if (jsonChars(data) > maxLeftChars)
      throw new Error(`What a call leaves has ${jsonChars(data)} characters, more than ${maxLeftChars}.`)
    this.#ports.record([{ type: 'call.noted', callId, key, id, name, left: data }])
    await this.#ports.durable()
  }

  #context(): ToolContext<never> {
    const { callId, key, name, runId, turnIndex } = this.#input
    const ports = this.#ports
    const by = isOwn(this.#tool) ? 'model' : 'tool'
    const isOver = (): boolean => this.#isClosed || this.#outer.aborted
    return {
      callId,
      key,
      agent: { id: ports.agentId, path: ports.path },
      runId,
      turnIndex,
      deps: ports.deps as never,
      redact: ports.redactor,
      signal: this.#controller.signal,
      changed: (path) => {
        if (typeof path !== 'string') return
        this.#changed ??= new Set()
        this.#changed.add(path)
      },
      pin: () => {
        this.#pins = true
      },
      snapshots: ports.snapshots,
      state: stateDoor(ports, { by, callId }, isOver),
      give: (data, as = '') => {
        if (this.#isClosed) return
        const place = notJsonIn(data)
        if (place !== undefined) throw new TypeError(`What is given is not JSON: ${place}`)
        this.#given ??= new Map()
        this.#given.set(as, cloneJson(data))
      },
      keep: (receipt, of) => {
        if (this.#isClosed || this.#tool.undo === undefined) return
        const data = cloneJson(receipt)
        const chars = jsonChars(data)
        if (chars > maxReceiptChars)
          throw new Error(`What is kept for undoing has ${chars} characters, more than ${maxReceiptChars}.`)
        this.#receipt = typeof of === 'string' ? { of, data } : { data }
        if (this.#input.background === undefined) ports.kept.set(callId, this.#receipt)
      },
      ask: (schema, question) => this.#ask(schema, question),
      background: this.#input.background,
      leaves: (left) => this.#leaves(left),
      closeWith: (resource, of) => ports.closeWith?.(resource, of) ?? false,
      report: (progress) => {
        if (this.#isClosed || this.#outer.aborted) return
        if (this.#input.background !== undefined) ports.background?.progressed(key, progress)
        ports.emit({ type: 'tool.progress', runId, turnIndex, callId, name, progress })
      },
    }
  }
}

/** Maximum length of a receipt, which is part of the log and stays in memory with the call. */
const maxReceiptChars = 16_000

/** Maximum length of a call's note about the effects that it would leave behind. */
const maxLeftChars = 4_000

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
