import { fromPromise } from 'xstate'
import { cutMiddle } from '../conversation/cutMiddle.ts'
import type { BrakeCall, CallInput, CallOutput } from '../machines/agentTypes.ts'
import { maxContentChars } from '../protocol/commands.ts'
import { errorInfo, messageOf, toErrorInfo, type ErrorInfo } from '../protocol/errors.ts'
import { cloneJson } from '../protocol/cloneJson.ts'
import { jsonChars } from '../protocol/jsonChars.ts'
import type { PlainBlock } from '../protocol/messages.ts'
import type { AgentPorts, FindPorts } from './agentPorts.ts'
import { BrakeCallResult } from './tools/braking/brakeCall.ts'
import { imageBlock } from '../protocol/imageBlock.ts'
import { isBlocks, type Tool, type ToolContext } from './tools/defineTool.ts'

interface Outcome {
  readonly content: readonly PlainBlock[]
  readonly isError: boolean
  readonly brake?: BrakeCall
  readonly changed?: readonly string[]
}

/** Calls of one agent that begin in the same turn of the event loop: a hundred that end at once would keep everything else waiting. */
const beginTogether = 16

/** The effect of one tool call. Whatever the tool does wrong becomes an error result the model can read. */
export const runTool = (find: FindPorts) => {
  const running = new WeakMap<AgentPorts, number>()
  const count = (ports: AgentPorts, change: number): number => {
    const before = running.get(ports) ?? 0
    running.set(ports, before + change)
    return before
  }
  return fromPromise<CallOutput, CallInput>(async ({ input, signal }) => {
    const ports = find(input.agentId)
    const before = count(ports, 1)
    try {
      for (let turns = Math.floor(before / beginTogether); turns > 0; turns--) await new Promise(setImmediate)
      return await begin(ports, input, signal)
    } finally {
      count(ports, -1)
    }
  })
}

async function begin(ports: AgentPorts, input: CallInput, signal: AbortSignal): Promise<CallOutput> {
  const { key } = input
  try {
    // A tick at least: the machine's step that starts it has ended then.
    await ports.durable()
  } catch (thrown) {
    return notStarted(ports, key, toErrorInfo(thrown, 'STORE_APPEND_FAILED'))
  }
  if (signal.aborted) return notStarted(ports, key, errorInfo('ABORTED', 'The call was aborted.'))
  const { content, isError, brake, changed } = withinSize(await call(ports, input, signal))
  return {
    key,
    content,
    isError,
    tokens: estimate(ports, input, content),
    at: ports.clock.now(),
    ...(brake === undefined ? {} : { brake }),
    ...(changed === undefined ? {} : { changed }),
  }
}

const notStarted = (ports: AgentPorts, key: string, error: ErrorInfo): CallOutput => ({
  key,
  content: [],
  isError: true,
  tokens: 0,
  at: ports.clock.now(),
  notStarted: error,
})

const estimate = ({ conversation }: AgentPorts, { callId, name }: CallInput, content: readonly PlainBlock[]): number =>
  Math.round(
    conversation.correction *
      conversation.counter.message({ role: 'toolResult', callId, toolName: name, content, isError: false }),
  )

async function call(ports: AgentPorts, input: CallInput, signal: AbortSignal): Promise<Outcome> {
  const { tools } = ports.definition
  const tool = tools.get(input.name)
  if (tool === undefined) {
    const names = [...tools.keys()].join(', ')
    return failure(`There is no tool "${input.name}". ${names === '' ? 'You have no tools.' : `Your tools: ${names}.`}`)
  }
  // The log keeps the input: a tool that changes what it was given must not change that.
  const parsed = tool.parse(typeof input.input === 'string' ? clean(ports, input.input) : cloneJson(input.input))
  if (!parsed.ok) return failure(parsed.message)
  const attempt = new Attempt(ports, input, tool, signal)
  try {
    return { ...toOutcome(await attempt.run(parsed.value), tool, ports), ...attempt.changed }
  } catch (thrown) {
    return { ...failure(cutMiddle(clean(ports, messageOf(thrown)), tool.maxOutputChars)), ...attempt.changed }
  } finally {
    attempt.close()
  }
}

/** Before a cut: a secret that was cut through is not found any more. */
const clean = <T>({ redactor }: AgentPorts, value: T): T => redactor?.value(value) ?? value

/** The outcome, or that no log could hold it: images and paths are not cut. */
function withinSize(outcome: Outcome): Outcome {
  const chars = jsonChars([outcome.content, outcome.changed ?? []])
  if (chars <= maxContentChars) return outcome
  return failure(
    `The tool finished, but its result takes ${chars} characters, more than ${maxContentChars}: have it return less, or a path.`,
  )
}

const failure = (text: string): Outcome => ({ content: [{ type: 'text', text }], isError: true })

/** One run of a tool under its time limit. Its abort signal is made only when the tool asks for it. */
class Attempt {
  readonly #ports: AgentPorts
  readonly #input: CallInput
  readonly #tool: Tool
  readonly #outer: AbortSignal
  #controller: AbortController | undefined
  readonly #changed = new Set<string>()
  #isClosed = false
  #cancelTimer: (() => void) | undefined
  #giveUp: (() => void) | undefined
  #timedOut: Error | undefined

  constructor(ports: AgentPorts, input: CallInput, tool: Tool, outer: AbortSignal) {
    this.#ports = ports
    this.#input = input
    this.#tool = tool
    this.#outer = outer
  }

  async run(value: unknown): Promise<unknown> {
    const { turnIndex, callId } = this.#input
    const result = this.#ports.within({ type: 'tool', turnIndex, callId }, () => this.#tool.run(value, this.#context()))
    if (!isThenable(result) || this.#tool.timeoutMs === Infinity) return await result
    return await new Promise((resolve, reject) => {
      const { timeoutMs } = this.#tool
      this.#cancelTimer = this.#ports.clock.after(timeoutMs, () => {
        const error = new Error(`Timed out after ${timeoutMs} ms. What it did so far was not undone.`)
        this.#timedOut = error
        this.#controller?.abort(error)
        reject(error)
      })
      this.#giveUp = () => reject(new Error('Aborted.'))
      this.#outer.addEventListener('abort', this.#giveUp, { once: true })
      result.then(resolve, reject)
    })
  }

  /** Files reported as changed, a failed call's too. */
  get changed(): { changed?: string[] } {
    return this.#changed.size === 0 ? {} : { changed: [...this.#changed] }
  }

  close(): void {
    this.#isClosed = true
    this.#cancelTimer?.()
    this.#outer.removeEventListener('abort', this.#forwardAbort)
    if (this.#giveUp !== undefined) this.#outer.removeEventListener('abort', this.#giveUp)
  }

  #context(): ToolContext {
    const { callId, key, name, loopId, turnIndex } = this.#input
    const ports = this.#ports
    const signal = () => this.#signal()
    return {
      callId,
      key,
      agent: { id: ports.agentId, path: ports.path },
      redact: ports.redactor,
      get signal() {
        return signal()
      },
      changed: (path) => {
        if (typeof path === 'string') this.#changed.add(path)
      },
      report: (progress) => {
        if (this.#isClosed || this.#outer.aborted) return
        ports.emit({ type: 'tool.progress', loopId, turnIndex, callId, name, progress })
      },
    }
  }

  #signal(): AbortSignal {
    if (this.#tool.timeoutMs === Infinity) return this.#outer
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#timedOut !== undefined) this.#controller.abort(this.#timedOut)
      else if (this.#outer.aborted) this.#forwardAbort()
      else if (!this.#isClosed) this.#outer.addEventListener('abort', this.#forwardAbort, { once: true })
    }
    return this.#controller.signal
  }

  #forwardAbort = (): void => this.#controller?.abort(this.#outer.reason)
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'

function toOutcome(value: unknown, tool: Tool, ports: AgentPorts): Outcome {
  const given = (blocks: readonly PlainBlock[]): Outcome => ({
    isError: false,
    content: cutBlocks(clean(ports, blocks), tool.maxOutputChars),
  })
  if (value instanceof BrakeCallResult) return { ...given([textBlock(value.text)]), brake: clean(ports, value.call) }
  if (isBlocks(value)) return given(value)
  if (typeof value === 'string') return given([textBlock(value)])
  try {
    return given([textBlock(JSON.stringify(value) ?? '')])
  } catch (thrown) {
    return failure(`The tool finished, but its result is not JSON: ${messageOf(thrown)}`)
  }
}

const textBlock = (text: string): PlainBlock => ({ type: 'text', text })

/** A copy of the blocks whose text is, all together, no longer than `maxChars`; images do not count. */
function cutBlocks(blocks: readonly PlainBlock[], maxChars: number): PlainBlock[] {
  let left = maxChars
  let dropped = 0
  const kept = blocks.flatMap((block): PlainBlock[] => {
    if (block.type === 'image') return [imageBlock(block.data, block.mimeType)]
    if (block.text.length > left && left < 100) {
      dropped += 1
      return []
    }
    const text = cutMiddle(block.text, left)
    left -= text.length
    return [textBlock(text)]
  })
  return dropped === 0 ? kept : [...kept, textBlock(`[… ${dropped} more blocks left out …]`)]
}
