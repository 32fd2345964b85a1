import type { z } from 'zod'
import { cutMiddle } from '../conversation/cutMiddle.ts'
import { lessonOf } from '../conversation/lessons.ts'
import type { BrakeCall, CallInput, CallOutput, Handoff } from '../machines/effectTypes.ts'
import { maxContentChars } from '../protocol/content.ts'
import { errorInfo, messageOf, toErrorInfo, type ErrorInfo } from '../protocol/errors.ts'
import { cloneJson } from '../protocol/cloneJson.ts'
import { jsonChars } from '../protocol/jsonChars.ts'
import type { PlainBlock, ToolResultMessage } from '../protocol/messages.ts'
import { abortReason } from './abortReason.ts'
import { afterTool } from './afterTool.ts'
import type { AgentPorts, FindPorts } from './agentPorts.ts'
import { isIgnored } from './lessonTools.ts'
import type { Cancellation } from './cancellation.ts'
import { Asking } from './asking.ts'
import { effect } from './effect.ts'
import { PausableTimer } from './pausableTimer.ts'
import { clean, contentOf, textBlock } from './resultContent.ts'
import { StartQueue } from './startQueue.ts'
import { whenDone } from './whenDone.ts'
import { BrakeCallResult } from './tools/braking/brakeCall.ts'
import { checkHandoff, handedTo } from './handoffs.ts'
import { TransferCall } from './tools/transferTool.ts'
import { WaitedFor, WaitForCall } from './tools/waitForTool.ts'
import { RecallCall } from './tools/braking/recallTool.ts'
import type { AnyTool, ToolContext } from './tools/defineTool.ts'

export interface Outcome {
  readonly content: readonly PlainBlock[]
  readonly isError: boolean
  readonly brake?: BrakeCall
  readonly changed?: readonly string[]
  readonly receipt?: ToolResultMessage['receipt']
  readonly hasLesson?: true
  readonly hook?: CallOutput['hook']
  /** It is to run again, because the store did not take what it waited for. */
  readonly notStarted?: ErrorInfo
  readonly delivers?: readonly string[]
  readonly handoff?: Handoff
}

/** The effect of one tool call. Whatever the tool does wrong becomes an error result the model can read. */
export const runTool = (find: FindPorts) => {
  const starts = new WeakMap<AgentPorts, StartQueue>()
  return effect<CallOutput, CallInput>((input, cancellation) => {
    const ports = find(input.agentId)
    let queue = starts.get(ports)
    if (queue === undefined) starts.set(ports, (queue = new StartQueue()))
    return queue.run(() => whenWritten(ports, input, cancellation))
  })
}

/** At least a tick later, when the machine's step that starts the call has ended. */
const whenWritten = (ports: AgentPorts, input: CallInput, cancellation: Cancellation): Promise<CallOutput> =>
  (ports.durable() ?? written).then(
    () => begin(ports, input, cancellation),
    (thrown: unknown) => notStarted(ports, input.key, toErrorInfo(thrown, 'STORE_APPEND_FAILED')),
  )

const written = Promise.resolve()

function begin(ports: AgentPorts, input: CallInput, cancellation: Cancellation): CallOutput | Promise<CallOutput> {
  if (cancellation.aborted) return notStarted(ports, input.key, errorInfo('ABORTED', 'The call was aborted.'))
  // What others learn while it runs came too late.
  const lesson = lessonFor(ports, input)
  return whenDone(call(ports, input, cancellation), (outcome) => {
    const { key } = input
    const at = ports.clock.now()
    if (outcome.notStarted !== undefined) return notStarted(ports, key, outcome.notStarted)
    // It is no longer needed.
    if (cancellation.aborted) return { key, content: [], isError: true, tokens: 0, at }
    const { content, isError, brake, changed, receipt, hasLesson, hook, delivers, handoff } = withinSize(
      withLesson(outcome, lesson),
    )
    const output = { key, content, isError, tokens: estimate(ports, input, content), at }
    if ((brake ?? changed ?? receipt ?? hasLesson ?? hook ?? delivers ?? handoff) === undefined) return output
    return {
      ...output,
      ...(brake === undefined ? {} : { brake }),
      ...(changed === undefined ? {} : { changed }),
      ...(receipt === undefined ? {} : { receipt }),
      ...(hasLesson === undefined ? {} : { hasLesson }),
      ...(hook === undefined ? {} : { hook }),
      ...(delivers === undefined ? {} : { delivers }),
      ...(handoff === undefined ? {} : { handoff }),
    }
  })
}

/** What became of the same call before, in one line: of this agent on a branch that it gave up, else of another of its group. */
function lessonFor(ports: AgentPorts, { name, input }: CallInput): string | undefined {
  const lessons = ports.definition.braking?.lessons
  if (lessons == null || isIgnored(ports.definition, name)) return undefined
  // As the log has it: what must not be kept is not compared.
  const made = clean(ports, { name, input })
  return lessonOf(ports.conversation, made) ?? ports.lessonOfOthers?.(made)
}

const withLesson = (outcome: Outcome, lesson: string | undefined): Outcome =>
  lesson === undefined ? outcome : { ...outcome, content: [...outcome.content, textBlock(lesson)], hasLesson: true }

const notStarted = (ports: AgentPorts, key: string, error: ErrorInfo): CallOutput => ({
  key,
  content: [],
  isError: true,
  tokens: 0,
  at: ports.clock.now(),
  notStarted: error,
})

/** What a result takes of the context. */
export const estimate = (
  { conversation }: AgentPorts,
  { callId, name }: Pick<CallInput, 'callId' | 'name'>,
  content: readonly PlainBlock[],
): number =>
  Math.round(
    conversation.correction *
      conversation.counter.message({ role: 'toolResult', callId, toolName: name, content, isError: false }),
  )

function call(ports: AgentPorts, input: CallInput, cancellation: Cancellation): Outcome | Promise<Outcome> {
  if (input.returned !== undefined) return afterTool(ports, input, input.returned, cancellation)
  const { tools } = ports.definition
  const tool = tools.get(input.name)
  if (tool === undefined) {
    const names = [...tools.keys()].join(', ')
    return failure(`There is no tool "${input.name}". ${names === '' ? 'You have no tools.' : `Your tools: ${names}.`}`)
  }
  // The log keeps the input, so a tool must not be able to change it.
  const parsed = tool.parse(typeof input.input === 'string' ? clean(ports, input.input) : cloneJson(input.input))
  if (!parsed.ok) return failure(parsed.message)
  const attempt = new Attempt(ports, input, tool, cancellation)
  const failed = (thrown: unknown): Outcome =>
    attempt.end(failure(cutMiddle(clean(ports, messageOf(thrown)), tool.maxOutputChars)))
  const ended = (value: unknown): Outcome => {
    try {
      return attempt.end(toOutcome(value, tool.maxOutputChars, ports))
    } catch (thrown) {
      return failed(thrown)
    }
  }
  let outcome: Outcome | Promise<Outcome>
  try {
    const value = attempt.run(parsed.value)
    outcome = value instanceof Promise ? value.then(ended, failed) : ended(value)
  } catch (thrown) {
    outcome = failed(thrown)
  }
  if (ports.definition.hooks === null) return outcome
  return whenDone(outcome, (came) =>
    came.notStarted === undefined ? afterTool(ports, input, came, cancellation) : came,
  )
}

/** The outcome, or an error if no log could hold it, because images and paths are not cut. */
export function withinSize(outcome: Outcome): Outcome {
  const chars = jsonChars([outcome.content, outcome.changed ?? []])
  if (chars <= maxContentChars) return outcome
  const tooLarge = failure(
    `The tool finished, but its result takes ${chars} characters, more than ${maxContentChars}: have it return less, or a path.`,
  )
  return outcome.receipt === undefined ? tooLarge : { ...tooLarge, receipt: outcome.receipt }
}

export const failure = (text: string): Outcome => ({ content: [{ type: 'text', text }], isError: true })

/** One run of a tool under its time limit. */
class Attempt {
  readonly #ports: AgentPorts
  readonly #input: CallInput
  readonly #tool: AnyTool
  readonly #outer: Cancellation
  /** Aborted when the call is cancelled, and by the time limit. */
  readonly #controller = new AbortController()
  #changed: Set<string> | undefined
  #receipt: ToolResultMessage['receipt']
  #isClosed = false
  #timer: PausableTimer | undefined
  #asking: Asking | undefined
  /** It waits for an answer, and the time limit does not run. */
  #isAsking = false
  #unwritten: ErrorInfo | undefined
  #giveUp: (() => void) | undefined

  constructor(ports: AgentPorts, input: CallInput, tool: AnyTool, outer: Cancellation) {
    this.#ports = ports
    this.#input = input
    this.#tool = tool
    this.#outer = outer
    outer.add(this.#abort)
    // Checking the arguments may already have aborted it.
    if (outer.aborted) this.#abort()
  }

  /** What the tool returns; for a promise, one that also settles at the time limit or when the call is cancelled. */
  run(value: unknown): unknown {
    const { turnIndex, callId } = this.#input
    const result = this.#ports.within({ type: 'tool', turnIndex, callId }, () => this.#start(value))
    if (!isThenable(result)) return result
    const { timeoutMs } = this.#tool
    if (timeoutMs === Infinity) return Promise.resolve(result)
    return new Promise((resolve, reject) => {
      this.#timer = new PausableTimer(this.#ports.clock, timeoutMs, () => {
        const error = new Error(`Timed out after ${timeoutMs} ms. What it did so far was not undone.`)
        this.#controller.abort(error)
        reject(error)
      })
      if (!this.#isAsking) this.#timer.resume()
      this.#giveUp = () => resolve(undefined)
      result.then(resolve, reject)
    })
  }

  #start(value: unknown): unknown {
    const result = this.#tool.run(value, this.#context())
    const { signal } = this.#controller
    if (result instanceof RecallCall) return result.answer(this.#ports.conversation, signal)
    return result instanceof WaitForCall ? this.#ports.children!.waitFor(result, signal) : result
  }

  /** The outcome with the files reported as changed and what was kept for undoing, even for a failed call. */
  end(outcome: Outcome): Outcome {
    this.#isClosed = true
    this.#timer?.pause()
    this.#outer.remove(this.#abort)
    // What it asked and did not wait for is over.
    if (this.#asking !== undefined) this.#controller.abort(abortReason())
    if (this.#unwritten !== undefined) return { ...outcome, notStarted: this.#unwritten }
    if (this.#changed === undefined && this.#receipt === undefined) return outcome
    return {
      ...outcome,
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

  /** Made for the first question: most tools ask none. */
  #questions(): Asking {
    return (this.#asking ??= new Asking(this.#ports, this.#input, {
      signal: this.#controller.signal,
      paused: () => {
        this.#isAsking = true
        this.#timer?.pause()
      },
      resumed: () => {
        this.#isAsking = false
        if (!this.#isClosed) this.#timer?.resume()
      },
      unwritten: (error) => {
        this.#unwritten = error
        this.#abort()
      },
    }))
  }

  #context(): ToolContext<never> {
    const { callId, key, name, runId, turnIndex } = this.#input
    const ports = this.#ports
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
      snapshots: ports.snapshots,
      keep: (receipt, of) => {
        if (this.#isClosed || this.#tool.undo === undefined) return
        const data = cloneJson(receipt)
        const chars = jsonChars(data)
        if (chars > maxReceiptChars)
          throw new Error(`What is kept for undoing has ${chars} characters, more than ${maxReceiptChars}.`)
        this.#receipt = typeof of === 'string' ? { of, data } : { data }
      },
      ask: (schema, question) => this.#ask(schema, question),
      report: (progress) => {
        if (this.#isClosed || this.#outer.aborted) return
        ports.emit({ type: 'tool.progress', runId, turnIndex, callId, name, progress })
      },
    }
  }
}

/** It is part of the log, and stays in memory with the call. */
const maxReceiptChars = 16_000

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'

/** Throws where the conversation cannot be handed over. */
function transfer({ ownDefinition, definition, deps: given }: AgentPorts, { to }: TransferCall): Outcome {
  checkHandoff(ownDefinition, definition, to)
  const { policy, snapshot: model, deps } = handedTo(ownDefinition, to)
  if (deps?.safeParse(given).success === false)
    throw new Error(`Not handed over: "${to}" needs deps, and those of this run do not fit them.`)
  return {
    isError: false,
    content: [textBlock(`You are "${to}" now: the conversation was handed over to you. Answer the user.`)],
    handoff: { to, policy, model },
  }
}

/** What a tool or a client returned, as the model gets it; text beyond `maxChars` is cut. */
export function toOutcome(value: unknown, maxChars: number, ports: AgentPorts): Outcome {
  if (value instanceof TransferCall) return transfer(ports, value)
  const isBrake = value instanceof BrakeCallResult
  try {
    if (value instanceof WaitedFor)
      return { isError: false, content: contentOf(value.text, maxChars, ports), delivers: value.delivers }
    const content = contentOf(isBrake ? value.text : value, maxChars, ports)
    return isBrake ? { isError: false, content, brake: clean(ports, value.call) } : { isError: false, content }
  } catch (thrown) {
    return failure(`The tool finished, but its result is not JSON: ${messageOf(thrown)}`)
  }
}
