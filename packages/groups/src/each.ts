import { isWait } from '../../../src/protocol/runs/waits.ts'
import type { AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import type { Agent } from '../../../src/runtime/agents/agent.ts'
import type { DepsFor } from '../../../src/runtime/agents/agentTypes.ts'
import { whyUnfinished } from '../../../src/runtime/children/childAnswer.ts'
import {
  asSentence,
  errorInfo,
  hasCode,
  RuntimeError,
  toErrorInfo,
  withoutAdvice,
  type ErrorInfo,
} from '../../../src/protocol/errors.ts'
import { totalTokens } from '../../../src/protocol/messages.ts'
import type { Content } from '../../../src/protocol/text/saidContent.ts'
import type { AnsweredRun, RunResult } from '../../../src/protocol/runs/runResult.ts'
import type { AgentRuntime } from '../../../src/runtime/agentRuntime.ts'
import { atMost } from './atMost.ts'
import { spentBy, type GroupSpent } from './branch.ts'
import { checkContent } from './checkGroup.ts'
import { checkEach } from './checkEach.ts'
import { found } from './foundAgent.ts'
import type { Each, EachItem, EachOptions, EachPlace, EachProgress, EachResult } from './eachTypes.ts'

const defaultConcurrency = 8

const nothing = spentBy([])

/**
 * Asks an agent about each of many inputs: one agent per input, `concurrency` at a time. Call it again with the same inputs, in the next
 * process too, and it continues: answered inputs keep their answers, a run that was cut off continues from its log, and only inputs that were
 * never asked are asked. An input that fails ends nothing.
 *
 * @throws RuntimeError before anything is started: `INVALID_OPTION` (two inputs with one key among them), `INVALID_DEFINITION`, `INVALID_ID`
 *
 * @example
 * ```ts no-run
 * const invoices = [{ number: 'a1', text: 'Two chairs, 80.00' }, { number: 'a2', text: 'One table, 120.00' }]
 * const batch = each(runtime, coder, invoices, { prompt: ({ text }) => text, key: ({ number }) => number, budget: { costUsd: 5 } })
 * for await (const { done, total, failed, costUsd } of batch) console.log(`${done} of ${total}, ${failed} failed, $${costUsd.toFixed(2)}`)
 * const { items, left } = await batch.result
 * ```
 */
export function each<Output, Deps, Calls>(
  runtime: AgentRuntime,
  definition: AgentDefinition<Output, Deps, Calls>,
  inputs: readonly string[],
  options?: EachOptions<string, DepsFor<Deps>>,
): Each<string, Output>
export function each<Input, Output, Deps, Calls>(
  runtime: AgentRuntime,
  definition: AgentDefinition<Output, Deps, Calls>,
  inputs: readonly Input[],
  options: EachOptions<Input, DepsFor<Deps>> & Pick<Required<EachOptions<Input>>, 'prompt'>,
): Each<Input, Output>
export function each(
  runtime: AgentRuntime,
  definition: AgentDefinition,
  inputs: readonly unknown[],
  given: EachOptions<never> = {},
): Each {
  // Only the overloads know of what type the inputs are.
  const options = given as EachOptions
  const places = checkEach(runtime, definition, inputs, options)
  return new Batch({ runtime, definition, places, options })
}

interface Plan {
  readonly runtime: AgentRuntime
  readonly definition: AgentDefinition
  readonly places: readonly EachPlace[]
  readonly options: EachOptions
}

class Batch implements Each {
  readonly #plan: Plan
  readonly result: Promise<EachResult>
  readonly #done = new Map<number, EachItem>()
  readonly #progress: EachProgress[] = []
  #news = Promise.withResolvers<void>()
  #isOver = false
  /** Amount spent by inputs that are done. */
  #spent = nothing
  /** Amounts spent by the other inputs, by their index. */
  readonly #live = new Map<number, { readonly spent: GroupSpent }>()
  readonly #aborted = Promise.withResolvers<undefined>()
  #failed = 0
  #stored = 0
  #isClosed = false

  constructor(plan: Plan) {
    this.#plan = plan
    this.result = this.#run()
  }

  async *[Symbol.asyncIterator](): AsyncIterator<EachProgress> {
    for (let next = 0; ; next += 1) {
      while (next === this.#progress.length && !this.#isOver) await this.#news.promise
      if (next === this.#progress.length) return
      yield this.#progress[next]!
    }
  }

  async #run(): Promise<EachResult> {
    const { places, options } = this.#plan
    const { signal, concurrency = defaultConcurrency } = options
    const abort = (): void => this.#aborted.resolve(undefined)
    if (signal?.aborted === true) abort()
    signal?.addEventListener('abort', abort, { once: true })
    // What earlier calls began comes first: answers that are there are not held back by a budget, and count towards it.
    const isEnded = (): boolean => !['budget', null].includes(this.#stopped)
    await atMost(concurrency, places, (place) => this.#goOn(place), { isOver: isEnded, failed })
    const left = (): EachPlace[] => places.filter(({ index }) => !this.#done.has(index))
    const isOver = (): boolean => this.#stopped !== null
    await atMost(concurrency, left(), (place) => this.#begin(place), { isOver, failed })
    signal?.removeEventListener('abort', abort)
    this.#isOver = true
    this.#news.resolve()
    const items = places.map((place) => this.#done.get(place.index) ?? { ...place, status: 'left' as const })
    return { items, left: left(), stopped: left().length === 0 ? null : this.#stopped, ...this.#used }
  }

  /** Reason why no more inputs are begun. `null`: the batch continues. */
  get #stopped(): EachResult['stopped'] {
    const { signal, budget = {} } = this.#plan.options
    if (signal?.aborted === true) return 'aborted'
    if (this.#isClosed) return 'closed'
    const { usage, costUsd } = this.#used
    const isUsedUp = costUsd >= (budget.costUsd ?? Infinity) || totalTokens(usage) >= (budget.tokens ?? Infinity)
    return isUsedUp ? 'budget' : null
  }

  get #used(): GroupSpent {
    return spentBy([this.#spent, ...[...this.#live.values()].map(({ spent }) => spent)])
  }

  /** Continues the work of an earlier call on an input, if there is any. */
  async #goOn(place: EachPlace): Promise<void> {
    const { runtime, definition, options } = this.#plan
    await this.#work(place, true, async () => {
      const known = runtime.agent(place.agentId)
      const agent = known ?? (await found(runtime.resume(place.agentId, definition, { deps: options.deps })))
      if (agent === undefined) return undefined
      return this.#with(place, agent, known === undefined, async () => {
        const result = await agent.result(questionOf(await timesAsked(agent)))
        return options.retry === true && result !== undefined && !isAnswer(result, definition) ? undefined : result
      })
    })
  }

  #begin(place: EachPlace): Promise<void> {
    const { runtime, definition, options } = this.#plan
    const { deps, limits } = options
    return this.#work(place, false, async () => {
      const isNew = runtime.agent(place.agentId) === undefined
      const agent = await runtime.open(place.agentId, definition, { deps })
      return this.#with(place, agent, isNew, async () => {
        if (agent.hasFailed || (agent.pause !== null && !isWait(agent.pause)))
          return agent.resume({ limits, deps }).result
        const content = await contentOf(place, options)
        return agent.askOnce(questionOf((await timesAsked(agent)) + 1), content, { limits, deps })
      })
    })
  }

  /** Runs `work` with an agent. An agent that was opened for this is closed afterwards; if the batch is aborted, it is released as it is. */
  async #with(place: EachPlace, agent: Agent, isOurs: boolean, work: () => Promise<Known>): Promise<Known> {
    this.#live.set(place.index, agent)
    try {
      return await Promise.race([work(), this.#aborted.promise])
    } finally {
      this.#live.set(place.index, { spent: agent.spent })
      const isLetGo = this.#stopped === 'aborted'
      if (isOurs) await (isLetGo ? this.#plan.runtime.detach(agent.id) : agent.close()).catch(() => {})
    }
  }

  /** Notes the result of work on an input. Never rejects. */
  async #work(place: EachPlace, isStored: boolean, work: () => Promise<Known>): Promise<void> {
    try {
      const result = await work()
      if (result === undefined || isUndone(result)) return
      this.#settle({ ...place, ...outcomeOf(result, this.#plan.definition) }, isStored)
    } catch (thrown) {
      if (hasCode(thrown, 'RUNTIME_CLOSED')) this.#isClosed = true
      else if (this.#stopped !== 'aborted')
        this.#settle({ ...place, status: 'failed', error: toErrorInfo(thrown, 'INTERNAL') }, false)
    }
  }

  #settle(item: EachItem, isStored: boolean): void {
    const { index } = item
    this.#spent = spentBy([this.#spent, this.#live.get(index)?.spent ?? nothing])
    this.#live.delete(index)
    this.#done.set(index, item)
    if (item.status === 'failed') this.#failed += 1
    if (isStored) this.#stored += 1
    const counts = { done: this.#done.size, failed: this.#failed, stored: this.#stored }
    this.#progress.push({ item, total: this.#plan.places.length, ...counts, ...this.#used })
    this.#news.resolve()
    this.#news = Promise.withResolvers()
  }
}

/** The result of an input. `undefined`: none yet. */
type Known = RunResult | undefined

const failed = (): void => {}

/** Returns the request id of a question. An aborted question is asked again, under the next number. */
const questionOf = (attempt: number): string => (attempt < 2 ? 'each' : `each-${attempt}`)

async function timesAsked(agent: Agent): Promise<number> {
  let times = 0
  while (await agent.wasAsked(questionOf(times + 1))) times += 1
  return times
}

/** True for a result that is neither an answer nor a failure: the run continues elsewhere, or is asked again. */
const isUndone = ({ stopReason, error }: RunResult): boolean =>
  stopReason === 'aborted' || (error !== undefined && ['AGENT_DETACHED', 'STORE_LEASE_LOST'].includes(error.code))

const isAnswer = (result: RunResult, { output }: AgentDefinition): result is AnsweredRun =>
  result.stopReason === 'stop' && result.error === undefined && (output === null || 'output' in result)

function outcomeOf(result: RunResult, definition: AgentDefinition) {
  if (isAnswer(result, definition)) return { status: 'ok', output: result.output, text: result.text, result } as const
  return { status: 'failed', error: errorOf(result), result } as const
}

function errorOf(result: RunResult): ErrorInfo {
  const { stopReason, error, reason } = result
  if (error !== undefined) return error
  if (stopReason === 'stop') return errorInfo('OUTPUT_INVALID', 'The stored answer does not fit the output schema.')
  const what = asSentence(`It did not finish: ${whyUnfinished(result)}`)
  return errorInfo(reason?.type === 'limit' ? 'LIMIT_REACHED' : 'RUN_UNFINISHED', what)
}

async function contentOf({ input, index }: EachPlace, { prompt }: EachOptions): Promise<Content> {
  if (prompt === undefined) return input as string
  const label = `each: the prompt of input ${index + 1}`
  let said: Content
  try {
    said = await prompt(input, index)
  } catch (thrown) {
    throw new RuntimeError('INVALID_CONTENT', asSentence(`${label} failed: ${withoutAdvice(thrown)}`), {
      cause: thrown,
    })
  }
  checkContent(label, said)
  return said
}
