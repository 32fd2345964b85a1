import { isAgentDefinition, type AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import { answerInTime } from '../../../src/actors/timing/answerInTime.ts'
import { Cancellation } from '../../../src/actors/timing/cancellation.ts'
import { hasCode } from '../../../src/protocol/errors.ts'
import type { AgentEvent } from '../../../src/protocol/events.ts'
import type { NodeId } from '../../../src/protocol/ids.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import type { RunResult } from '../../../src/protocol/runs/runResult.ts'
import type { Agent } from '../../../src/runtime/agents/agent.ts'
import { hostOf } from '../../../src/runtime/agents/agentFacts.ts'
import type { AgentRuntime } from '../../../src/runtime/agentRuntime.ts'
import { whyUnfinished } from '../../../src/runtime/children/childAnswer.ts'
import { endedWell, spentBy, type GroupSpent } from './branch.ts'
import { found } from './foundAgent.ts'
import type { ReviewedOptions, Reviewing, ReviewWork } from './reviewTypes.ts'
import { findingIn, findingText, requestIn, reviewedUpTo, reviewKey, reviewPrompt, textsOf } from './reviewWork.ts'

interface Plan {
  readonly runtime: AgentRuntime
  readonly agent: Agent
  readonly options: ReviewedOptions
  readonly name: string
  /** Definition of the reviewing agent. `undefined`: a function reviews. */
  readonly definition: AgentDefinition | undefined
  readonly reviewerId: string
  /** Called once the reviews have ended. */
  readonly ended: () => void
}

interface Finding {
  readonly key: string
  readonly text: string
}

/** Stop reasons of runs that `resume` can continue. */
const mayGoOn: ReadonlySet<string> = new Set(['paused', 'error'])

export class Reviews implements Reviewing {
  readonly #plan: Plan
  readonly #every: number
  /** `seq` of the ends of turns since the last review. */
  #turns: number[] = []
  /** `seq` up to which the work was reviewed. */
  #reviewed = 0
  /** Number of turns after which a review begins. */
  #due: number
  /** Keys of the findings told in the current run. */
  readonly #told = new Set<string>()
  /** A finding that waits for a run. While there is one, no review begins. */
  #held: Finding | undefined
  #reviewer: Agent | undefined
  #isReviewerOurs = false
  #current: Cancellation | undefined
  #work: Promise<void> | undefined
  #isOver = false
  #isRead = false
  readonly #unread: AgentEvent[] = []
  #leave = (): void => {}

  constructor(plan: Plan) {
    this.#plan = plan
    this.#every = plan.options.every ?? 5
    this.#due = this.#every
  }

  get reviewerId(): string | undefined {
    return this.#plan.definition === undefined ? undefined : this.#plan.reviewerId
  }

  get spent(): GroupSpent {
    return this.#reviewer?.spent ?? spentBy([])
  }

  get isHolding(): boolean {
    return this.#held !== undefined
  }

  async settled(): Promise<void> {
    while (this.#work !== undefined) await this.#work
  }

  async end(): Promise<void> {
    if (!this.#isOver) {
      this.#isOver = true
      this.#leave()
      this.#current?.abort()
      this.#plan.ended()
    }
    await this.settled()
    if (this.#isReviewerOurs) await this.#reviewer?.close().catch(() => {})
  }

  /** Reads the log of earlier processes, continues a review that they began, and then listens. */
  async begin(): Promise<void> {
    const { agent, definition } = this.#plan
    await agent.wake()
    const before = agent.lastSeq
    const unsubscribe = agent.subscribe((event) => this.#hear(event))
    const offEnd = hostOf(agent).machine.onEnd(() => void this.end())
    this.#leave = () => {
      unsubscribe()
      offEnd()
    }
    const last = definition === undefined ? undefined : await this.#lastAsked(definition)
    for await (const record of agent.readLog()) {
      if (record.seq > before) break
      this.#note(record)
      // Work of runs that ended before is nobody's any more.
      if (record.type === 'run.end' && !mayGoOn.has(record.stopReason)) this.#leaveOut(record.seq)
    }
    if (last !== undefined) this.#leaveOut(last)
    this.#isRead = true
    if (last !== undefined && !(await agent.wasAsked(reviewKey(this.#plan.name, last)))) this.#goOn(last)
    for (const event of this.#unread) if (event.seq > before) this.#hear(event)
    this.#next()
  }

  /** Returns the `seq` of the last review in the reviewer's log. */
  async #lastAsked(definition: AgentDefinition): Promise<number | undefined> {
    const { runtime, reviewerId, name, options } = this.#plan
    const known = runtime.agent(reviewerId)
    const reviewer = known ?? (await found(runtime.resume(reviewerId, definition, { deps: options.deps })))
    if (reviewer === undefined) return undefined
    this.#use(reviewer, known === undefined)
    let last: number | undefined
    for await (const record of reviewer.readLog()) last = reviewedUpTo(name, requestIn(record)) ?? last
    return last !== undefined && (await reviewer.wasAsked(reviewKey(name, last))) ? last : undefined
  }

  #use(reviewer: Agent, isOurs: boolean): void {
    this.#reviewer = reviewer
    this.#isReviewerOurs = isOurs
  }

  #hear(event: AgentEvent): void {
    if (!this.#isRead) this.#unread.push(event)
    else if (event.agentId === this.#plan.agent.id && !this.#isOver) this.#react(event)
  }

  #react(event: AgentEvent): void {
    this.#note(event)
    // The machine is in the middle of its step.
    if (event.type === 'run.start') queueMicrotask(() => this.#tellHeld())
    else if (event.type === 'turn.end') this.#next()
    else if (event.type === 'run.end' && event.stopReason === 'aborted') {
      this.#leaveOut(event.seq)
      this.#current?.abort()
    }
  }

  #note(record: LogRecord | AgentEvent): void {
    const key = requestIn(record)
    const upTo = reviewedUpTo(this.#plan.name, key)
    if (record.type === 'turn.end') this.#turns.push(record.seq)
    else if (record.type === 'run.start' && record.cause !== 'resume' && upTo === undefined) this.#told.clear()
    if (key === undefined || upTo === undefined) return
    this.#told.add(key)
    this.#leaveOut(upTo)
  }

  #leaveOut(upTo: number): void {
    this.#turns = this.#turns.filter((seq) => seq > upTo)
    this.#reviewed = Math.max(this.#reviewed, upTo)
  }

  /** Begins a review if one is due. */
  #next(): void {
    const { when, most = 3 } = this.#plan.options
    const isFree = this.#work === undefined && this.#held === undefined && !this.#isOver
    if (!isFree || this.#turns.length < this.#due || this.#told.size >= most) return
    const [turns, after] = [this.#turns, this.#reviewed]
    const upTo = turns.at(-1)!
    this.#due = this.#every
    this.#leaveOut(upTo)
    this.#review(upTo, async (cancellation) => {
      const work = await this.#workOf(turns.length, after, upTo)
      const isWorth = when === undefined || (await this.#inTime(cancellation, async () => when(work)))
      if (isWorth) return this.#inTime(cancellation, (signal) => this.#ask(work, signal))
      this.#turns = [...turns, ...this.#turns]
      this.#reviewed = after
      this.#due = this.#turns.length + this.#every
      return undefined
    })
  }

  /** Waits for the answer to a review that an earlier process began. */
  #goOn(upTo: number): void {
    const reviewer = this.#reviewer!
    const key = reviewKey(this.#plan.name, upTo)
    this.#review(upTo, (cancellation) =>
      this.#inTime(cancellation, (signal) => answerOf(reviewer, signal, () => reviewer.result(key))),
    )
  }

  #review(upTo: number, ask: (cancellation: Cancellation) => Promise<unknown>): void {
    const cancellation = new Cancellation()
    this.#current = cancellation
    this.#work = this.#reviewNow(upTo, ask, cancellation).finally(() => {
      this.#work = undefined
      this.#current = undefined
      this.#next()
    })
  }

  /** Reviews the work, and tells the agent of the finding. Never rejects. */
  async #reviewNow(upTo: number, ask: (cancellation: Cancellation) => Promise<unknown>, cancellation: Cancellation) {
    const { agent, name } = this.#plan
    try {
      const finding = findingIn(await ask(cancellation))
      if (finding === undefined || cancellation.aborted) return
      this.#held = { key: reviewKey(name, upTo), text: findingText(name, finding) }
      await agent.wake()
      this.#tellHeld()
    } catch (thrown) {
      if (!cancellation.aborted) this.#failed(thrown)
    }
  }

  #failed(thrown: unknown): void {
    const { agent, name } = this.#plan
    hostOf(agent).shared.callbackFailed(`The review of agent "${agent.id}" by ${name}`, thrown, { agentId: agent.id })
  }

  /** Tells the agent of the waiting finding, if that is possible now. */
  #tellHeld(): void {
    const held = this.#held
    if (held === undefined || this.#isOver) return
    const { agent, options } = this.#plan
    const { as = 'steer', atRest = 'wait' } = options
    const { machine } = hostOf(agent)
    const isAtRest = machine.context.run === null || machine.state === 'settling'
    if (isAtRest && atRest === 'wait') return
    const provenance = { type: 'note', kind: 'review' } as const
    try {
      agent.dispatch(
        { type: `agent.${as}`, agentId: agent.id, content: held.text, provenance },
        { requestId: held.key },
      )
      this.#held = undefined
    } catch (thrown) {
      this.#failed(thrown)
    }
  }

  #inTime<T>(cancellation: Cancellation, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { agent, name, options } = this.#plan
    const { timeoutMs = 300_000 } = options
    return answerInTime({ clock: hostOf(agent).shared.clock }, { name, timeoutMs }, cancellation, ask)
  }

  async #workOf(turns: number, after: number, upTo: number): Promise<ReviewWork> {
    const { agent, name } = this.#plan
    const nodes = new Set<NodeId>()
    for await (const record of agent.readLog(after + 1)) {
      if (record.seq > upTo) break
      if (record.type === 'message.added' || record.type === 'reply.end' || record.type === 'tool.end')
        nodes.add(record.nodeId)
    }
    await agent.wake()
    const texts = textsOf(agent.conversation.trunk(), ({ id }) => nodes.has(id))
    return { agentId: agent.id, key: reviewKey(name, upTo), turns, ...texts }
  }

  async #ask(work: ReviewWork, signal: AbortSignal): Promise<unknown> {
    const { definition, options } = this.#plan
    const { with: reviewer, limits, deps } = options
    if (!isAgentDefinition(reviewer)) return reviewer(work, { signal })
    const agent = await this.#open(definition!)
    return answerOf(agent, signal, () => agent.askOnce(work.key, reviewPrompt(work), { limits, deps }))
  }

  async #open(definition: AgentDefinition): Promise<Agent<unknown, unknown>> {
    const { runtime, agent, reviewerId, options } = this.#plan
    const isOurs = this.#isReviewerOurs || runtime.agent(reviewerId) === undefined
    const { metadata } = agent
    const kept = metadata === undefined ? {} : { metadata }
    const reviewer = await runtime.open(reviewerId, definition, { deps: options.deps, ...kept })
    this.#use(reviewer, isOurs)
    if (this.#isOver && isOurs) await reviewer.close()
    return reviewer
  }
}

/** Resolves with the answer of a reviewing agent, whose run ends with the signal. `undefined`: the run was aborted. */
async function answerOf(
  reviewer: Agent,
  signal: AbortSignal,
  ask: () => Promise<RunResult | undefined>,
): Promise<unknown> {
  signal.throwIfAborted()
  signal.addEventListener('abort', () => abortOf(reviewer), { once: true })
  const result = await ask()
  if (result === undefined || result.stopReason === 'aborted') return undefined
  if (!endedWell({ result })) throw new Error(`The agent "${reviewer.id}" did not finish: ${whyUnfinished(result)}`)
  return 'output' in result ? result.output : result.text
}

/** Aborts an agent's run, unless it has ended. */
function abortOf(reviewer: Agent): void {
  try {
    reviewer.abort()
  } catch (thrown) {
    if (!hasCode(thrown, 'AGENT_STOPPED')) throw thrown
  }
}
