import { RuntimeError, toErrorInfo, type ErrorInfo } from '../protocol/errors.ts'
import type { Run } from '../runs/run.ts'
import type { RunResult } from '../runs/runResult.ts'
import { type Agent, bodyOf } from '../runtime/agents/agent.ts'
import { awaitsDecision } from '../runtime/agents/agentTree.ts'
import type { Carried, Outcome } from './carried.ts'
import { refusalOf } from './engineErrors.ts'
import type { WorkerAgents } from './workerAgents.ts'

/** What one stretch of an attempt came to: agents that are now agents of their own, and it goes on; or its end. */
export type Step =
  | { readonly begun: readonly string[] }
  | {
      readonly outcome: Outcome
      /** An agent that something was reported to. */
      readonly wakes?: string
      /** What its definition says, in short. */
      readonly code?: string
    }

/** The engine has given up this attempt: another one may have begun elsewhere. */
class AttemptOver extends Error {
  override readonly name = 'AttemptOver'
}

/**
 * One attempt to bring a command to an agent and to wait until nothing more happens by itself. What an earlier attempt has done is in the
 * log, and is not done again. When the engine ends the attempt, the agent is let go of without a word, and whoever comes next goes on.
 */
export class Attempt {
  readonly #agents: WorkerAgents
  readonly #agentId: string
  readonly #first: Carried
  readonly #signal: AbortSignal
  #agent: Agent | undefined
  #free: (() => void) | undefined
  /** Came by signal before the agent was open. */
  readonly #early: Carried[] = []
  readonly #seen = new Set<string>()
  readonly #refused = new Map<string, ErrorInfo>()
  #run: Run | undefined
  #result: RunResult | undefined
  #from: number | undefined
  #carrying: Promise<void> = Promise.resolve()
  #changed = Promise.withResolvers<void>()
  readonly #endings: (() => void)[] = []
  #state: 'open' | 'cancelled' | 'ended' = 'open'
  #isStopping = false
  #working: Promise<Step> | undefined

  constructor(agents: WorkerAgents, agentId: string, first: Carried, signal: AbortSignal) {
    this.#agents = agents
    this.#agentId = agentId
    this.#first = first
    this.#signal = signal
  }

  /** Takes a command that came by signal; one that the log has, or that comes too late, is dropped: it is in the mailbox too. */
  take(carried: Carried): void {
    if (this.#state === 'ended') return
    if (this.#agent === undefined) this.#early.push(carried)
    else this.#carry(this.#agent, carried)
  }

  /** Works until something is to be told to the engine. Rejects with what is worth another attempt. */
  next(): Promise<Step> {
    this.#working = this.#work()
    return this.#working
  }

  /** Ends what runs, and says so in the log. Resolves when the agent rests. Never rejects. */
  async cancel(): Promise<void> {
    if (this.#state === 'ended') return
    this.#state = 'cancelled'
    if (this.#agent !== undefined) this.#abort(this.#agent)
    for (let step = await this.#quietly(); step !== undefined && 'begun' in step;) step = await this.#quietly()
  }

  async #quietly(): Promise<Step | undefined> {
    try {
      return await (this.#working ?? this.next())
    } catch {
      return undefined
    } finally {
      this.#working = undefined
    }
  }

  async #work(): Promise<Step> {
    try {
      this.#checkSignal()
      const agent = (this.#agent ??= await this.#open())
      const step = await this.#untilStep(agent)
      if ('begun' in step) return step
      await this.#end(agent)
      return step
    } catch (thrown) {
      const agent = this.#agent
      if (agent !== undefined) await this.#agents.letGo(agent)
      this.#ended()
      const error = refusalOf(thrown)
      if (error === undefined) throw thrown
      // Who stops an agent that is stopped has what was asked for.
      const isStopped = error.code === 'AGENT_STOPPED' && this.#first.command.type === 'agent.stop'
      return { outcome: isStopped ? { status: 'stopped', seq: 0 } : { status: 'refused', seq: 0, error } }
    }
  }

  async #open(): Promise<Agent> {
    this.#free = await this.#agents.seats.take(this.#agentId)
    this.#checkSignal()
    const { command, birth } = this.#first
    const agent = await this.#agents.open(this.#agentId, birth, { anew: command.type === 'wake' })
    this.#agent = agent
    const wake = (): void => this.#wake()
    this.#signal.addEventListener('abort', wake, { once: true })
    const { definition } = bodyOf(agent)
    this.#endings.push(
      () => this.#signal.removeEventListener('abort', wake),
      agent.subscribe((event) => this.#heard(event), { descendants: definition.agents.size > 0 }),
      bodyOf(agent).onEnd(wake),
      this.#agents.onChange(wake),
    )
    this.#carry(agent, this.#first)
    for (const carried of this.#early.splice(0)) this.#carry(agent, carried)
    if (this.#state === 'cancelled') this.#abort(agent)
    return agent
  }

  #heard(event: {
    readonly type: string
    readonly agentId: string
    readonly requestId?: string
    readonly seq?: number
  }): void {
    if (event.type === 'run.start' && event.agentId === this.#agentId && event.requestId === this.#first.requestId)
      this.#from ??= event.seq
    if (wakening.has(event.type)) this.#wake()
  }

  #wake(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }

  #abort(agent: Agent): void {
    this.#carrying = this.#carrying.then(() => agent.abort()).catch(() => {})
    this.#wake()
  }

  #carry(agent: Agent, carried: Carried): void {
    this.#carrying = this.#carrying.then(() => this.#carryOut(agent, carried))
    this.#wake()
  }

  /** Gives one command to the agent, unless its log has it. Never rejects. */
  async #carryOut(agent: Agent, { requestId, command }: Carried): Promise<void> {
    if (command.type === 'wake' || command.type === 'open' || this.#seen.has(requestId)) return
    this.#seen.add(requestId)
    try {
      if (await agent.wasAsked(requestId)) return
      if (command.type === 'agent.stop') this.#isStopping = true
      const run = agent.dispatch(command, { requestId })
      if (run === undefined || requestId !== this.#first.requestId) return
      this.#run = run
      void run.result.then((result) => {
        this.#result = result
        this.#wake()
      })
    } catch (thrown) {
      // Another attempt may do better with what passes.
      this.#refused.set(requestId, refusalOf(thrown) ?? toErrorInfo(thrown, 'INTERNAL'))
    }
  }

  /** Waits until nothing more happens by itself. */
  async #untilStep(agent: Agent): Promise<Step> {
    for (;;) {
      const changed = this.#changed.promise
      await this.#carrying
      // The machine may be in the middle of a step.
      await new Promise((resolve) => setImmediate(resolve))
      await this.#agents.noticed()
      this.#checkSignal()
      const isQuiet = this.#isQuiet(agent)
      const begun = this.#agents.begun(agent)
      if (begun.length > 0) return { begun }
      if (isQuiet) return await this.#outcome(agent)
      await changed
    }
  }

  #isQuiet(agent: Agent): boolean {
    const { pause } = agent
    if (pause?.type === 'store')
      throw new RuntimeError('STORE_APPEND_FAILED', `Agent "${agent.id}" could not write: ${pause.error.message}`)
    if (isStopped(agent) && !this.#isStopping)
      throw new RuntimeError('AGENT_DETACHED', `Agent "${agent.id}" ended here while it worked.`)
    return isAtRest(agent) && this.#agents.reporting(agent).every((detached) => isAtRest(detached.agent))
  }

  async #outcome(agent: Agent): Promise<Step> {
    await agent.durable()
    const { lastSeq: seq } = agent
    const error = this.#refused.get(this.#first.requestId)
    const from = this.#from === undefined ? {} : { from: this.#from }
    if (error !== undefined) return { outcome: { status: 'refused', seq, error } }
    const keys = [agent, ...this.#agents.reporting(agent).map((detached) => detached.agent)].flatMap((one) =>
      one.pending().map(({ key }) => key),
    )
    const status = this.#isStopping && isStopped(agent) ? 'stopped' : statusOf(agent, keys)
    const result = this.#run === undefined ? undefined : this.#result
    const { stopReason } = result ?? {}
    const failed = result?.stopReason === 'error' ? { error: result.error } : {}
    const caller = status === 'done' ? this.#agents.callerOf(agent) : undefined
    return {
      outcome: {
        status,
        seq,
        ...from,
        ...(stopReason === undefined ? {} : { stopReason }),
        ...failed,
        ...(keys.length === 0 ? {} : { callIds: keys }),
      },
      ...(caller === undefined ? {} : { wakes: caller }),
      code: this.#agents.definitions.fingerprint(agent.definition),
    }
  }

  async #end(agent: Agent): Promise<void> {
    const isWarm = agent.state === 'idle' && this.#agents.reporting(agent).length === 0
    if (isWarm) await this.#agents.keep(agent)
    else await this.#agents.letGo(agent)
    this.#ended()
  }

  #ended(): void {
    this.#state = 'ended'
    for (const end of this.#endings.splice(0)) end()
    this.#free?.()
    this.#free = undefined
  }

  #checkSignal(): void {
    if (this.#signal.aborted && this.#state !== 'cancelled') throw new AttemptOver('The engine has ended this attempt.')
  }
}

/** After these an agent may rest, or wait for people. */
const wakening: ReadonlySet<string> = new Set([
  'state.changed',
  'approval.requested',
  'question.asked',
  'call.requested',
  'run.end',
])

const isStopped = (agent: Agent): boolean => bodyOf(agent).isStopped

/** Whether nothing more happens before somebody says or decides something. */
function isAtRest(agent: Agent): boolean {
  if (isStopped(agent) || agent.state === 'idle') return true
  return (agent.state === 'paused' && agent.pause?.type !== 'approvals') || awaitsDecision(agent)
}

function statusOf(agent: Agent, keys: readonly string[]): Outcome['status'] {
  if (agent.state === 'paused' && agent.pause?.type !== 'approvals') return 'paused'
  return keys.length > 0 ? 'waiting' : 'done'
}
