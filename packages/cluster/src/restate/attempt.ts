import type { AgentEvent } from '../../../../src/protocol/events.ts'
import { RuntimeError, toErrorInfo, type ErrorInfo } from '../../../../src/protocol/errors.ts'
import type { RunResult } from '../../../../src/protocol/runs/runResult.ts'
import type { Agent } from '../../../../src/runtime/agents/agent.ts'
import type { Settled } from '../../../../src/runtime/agents/settled.ts'
import { LoggedRequests } from '../../../sessions/src/loggedRequests.ts'
import type { Carried, Outcome } from './carried.ts'
import { DrivenMachine, type Driven } from './drivenMachine.ts'
import { refusalOf } from './engineErrors.ts'
import type { WorkerAgents } from './workerAgents.ts'

/** Result of one stretch of an attempt: agents that have become agents of their own, after which it continues; or its end. */
export type Step =
  | { readonly begun: readonly string[] }
  | {
      readonly outcome: Outcome
      /** Agent that received a report. */
      readonly wakes?: string
      /** Fingerprint of the agent's definition. */
      readonly code?: string
      /** Time at which the agent wants to be woken, and the milliseconds until then. */
      readonly due?: { readonly at: number; readonly inMs: number }
      /** Number of sub-agents so far. The engine knows all of them that are agents of their own. */
      readonly children?: number
    }

/** Error for an attempt that the engine has given up: another attempt may have begun elsewhere. */
class AttemptOver extends Error {
  override readonly name = 'AttemptOver'
}

/**
 * One attempt to bring a command to an agent and to wait until nothing more happens by itself. Work of an earlier attempt is in the log,
 * and is not done again. When the engine ends the attempt, the agent is released without a record, and the next attempt continues it.
 */
export class Attempt {
  readonly #agents: WorkerAgents
  readonly #agentId: string
  readonly #first: Carried
  readonly #known: number
  readonly #signal: AbortSignal
  #agent: Driven | undefined
  #free: (() => void) | undefined
  #leave: (() => void) | undefined
  /** Aborted once the prompt was withdrawn, so that it no longer waits for the limits of its tenant. */
  readonly #takenBack = new AbortController()
  /** Agents of their own that the agent had begun before this attempt opened it. */
  #begunBefore: readonly string[] = []
  /** Commands that came by signal before the agent was open. */
  readonly #early: Carried[] = []
  readonly #seen = new Set<string>()
  readonly #refused = new Map<string, ErrorInfo>()
  #result: (Pick<RunResult, 'stopReason'> & { readonly error?: ErrorInfo | undefined }) | undefined
  /** Agent whose log already had the command from another attempt. */
  #knownTo: Agent | undefined
  #from: number | undefined
  #carrying: Promise<void> = Promise.resolve()
  #changed = Promise.withResolvers<void>()
  readonly #endings: (() => void)[] = []
  #state: 'open' | 'cancelled' | 'ended' = 'open'
  #isStopping = false
  /** True if the agent was paused when it was opened, because an earlier attempt could not write. */
  #wasPaused = false
  #working: Promise<Step> | undefined

  /** `known`: number of the agent's sub-agents among which the engine knows all agents of their own. */
  constructor(agents: WorkerAgents, agentId: string, first: Carried, signal: AbortSignal, known = 0) {
    this.#agents = agents
    this.#agentId = agentId
    this.#first = first
    this.#known = known
    this.#signal = signal
  }

  /** Takes a command that came by signal. A command that is in the log or comes too late is dropped, since it is in the mailbox too. */
  take(carried: Carried): void {
    if (this.#state === 'ended') return
    if (this.#agent !== undefined) return this.#carry(this.#agent, carried)
    this.#early.push(carried)
    if (takesBack(carried, this.#first)) this.#takenBack.abort()
  }

  /** Works until there is a step to report to the engine. Rejects with errors that are worth another attempt. */
  next(): Promise<Step> {
    this.#working = this.#work()
    return this.#working
  }

  /** Ends the current work, and records its end in the log. Resolves when the agent rests. Never rejects. */
  async cancel(): Promise<void> {
    if (this.#state === 'ended') return
    this.#state = 'cancelled'
    this.#takenBack.abort()
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
      if (this.#agent === undefined && !(await this.#mayBegin())) {
        this.#ended()
        return { outcome: { status: 'done', seq: 0, stopReason: 'aborted' } }
      }
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

  /** Waits until the run may begin. Resolves to `false` if the run was withdrawn meanwhile and its log has nothing of it. */
  async #mayBegin(): Promise<boolean> {
    const { command, birth, requestId } = this.#first
    if (command.type !== 'agent.prompt') return true
    const over = AbortSignal.any([this.#signal, this.#takenBack.signal])
    this.#leave = await this.#agents.admit(this.#agentId, birth, over)
    this.#checkSignal()
    if (this.#leave !== undefined) return true
    if (!this.#takenBack.signal.aborted) throw new AttemptOver('The worker is leaving.')
    // An attempt before this one may have begun it. To end that needs no place.
    return await this.#agents.wasAsked(this.#agentId, requestId)
  }

  async #open(): Promise<Driven> {
    this.#free = await this.#agents.seats.take(this.#agentId)
    this.#checkSignal()
    const agent = await this.#agents.open(this.#agentId, this.#first)
    this.#agent = agent
    this.#begunBefore = await this.#agents.begunBefore(agent, this.#known)
    this.#wasPaused = agent.state === 'paused'
    const wake = (): void => this.#wake()
    this.#signal.addEventListener('abort', wake, { once: true })
    this.#endings.push(
      () => this.#signal.removeEventListener('abort', wake),
      agent.subscribe((event) => this.#heard(event)),
      this.#agents.onChange(wake),
    )
    // It may have been aborted since it was looked at, and says so only once.
    this.#checkSignal()
    this.#carry(agent, this.#first)
    for (const carried of this.#early.splice(0)) this.#carry(agent, carried)
    if (this.#state === 'cancelled') this.#abort(agent)
    return agent
  }

  #heard(event: AgentEvent): void {
    if (event.type === 'run.start' && event.requestId === this.#first.requestId) this.#from ??= event.seq
  }

  #wake(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }

  #abort(agent: Driven): void {
    this.#carrying = this.#carrying.then(() => agent.abort()).catch(() => {})
    this.#wake()
  }

  #carry(agent: Driven, carried: Carried): void {
    this.#carrying = this.#carrying.then(() => this.#carryOut(agent, carried))
    this.#wake()
  }

  /** Gives one command to the agent, unless its log has it. Never rejects. */
  async #carryOut(driven: Driven, { requestId, command, to }: Carried): Promise<void> {
    if (command.type === 'wake' || command.type === 'open' || this.#seen.has(requestId)) return
    this.#seen.add(requestId)
    try {
      if (command.type === 'event') return await eventOf(driven, command.event, requestId)
      const agent = driven instanceof DrivenMachine ? driven.agent(to) : driven
      if (await agent.wasAsked(requestId)) {
        if (requestId === this.#first.requestId) this.#knownTo = agent
        return
      }
      if (command.type === 'agent.stop') this.#isStopping = true
      const run = agent.dispatch(command, { requestId })
      if (run === undefined || requestId !== this.#first.requestId) return
      void run.result.then((result) => (this.#result = result))
    } catch (thrown) {
      // Another attempt may do better with what passes.
      this.#refused.set(requestId, refusalOf(thrown) ?? toErrorInfo(thrown, 'INTERNAL'))
    }
  }

  /** Waits until nothing more happens by itself, in the agent and in those that report to it. */
  async #untilStep(agent: Driven): Promise<Step> {
    for (;;) {
      const changed = this.#changed.promise
      const carrying = this.#carrying
      await carrying
      // The machine may be in the middle of a step.
      await new Promise((resolve) => setImmediate(resolve))
      const settled = await this.#unlessChanged(agent, changed)
      await this.#agents.noticed()
      this.#checkSignal()
      const begun = [...this.#begunBefore, ...this.#agents.begun(agent)]
      this.#begunBefore = []
      if (begun.length > 0) return { begun }
      if (settled === undefined || carrying !== this.#carrying) continue
      if (this.#wasPaused && settled.status === 'paused' && settled.reason.type === 'store') {
        // To try again is what this attempt is for.
        this.#wasPaused = false
        agent.resume()
        continue
      }
      checkSettled(agent.id, settled, this.#isStopping)
      const reporting = await this.#reporting(agent, settled, changed)
      if (reporting !== undefined && carrying === this.#carrying) {
        if (this.#knownTo !== undefined) await this.#readResult(this.#knownTo)
        return this.#outcome(agent, settled, reporting)
      }
    }
  }

  /** Resolves with the settled state; `undefined` if something else has changed first. */
  async #unlessChanged(agent: Driven, changed: Promise<void>): Promise<Settled | undefined> {
    const waiting = new AbortController()
    const settled = agent.settled({ signal: waiting.signal })
    try {
      return await Promise.race([settled, changed.then(() => undefined)])
    } finally {
      settled.catch(() => {})
      waiting.abort()
    }
  }

  /** Resolves with the settled states of agents in this process that report to the agent; `undefined` if it may have received a report meanwhile. */
  async #reporting(agent: Driven, settled: Settled, changed: Promise<void>): Promise<readonly Settled[] | undefined> {
    const all: Settled[] = []
    const { lastSeq } = agent
    for (const { agent: reporter } of this.#agents.reporting(agent)) {
      if (settled.status !== 'idle' || !settled.reporters.includes(reporter.id)) continue
      const known = await this.#unlessChanged(reporter, changed)
      if (known === undefined) return undefined
      all.push(known)
    }
    if (all.length === 0) return all
    await new Promise((resolve) => setImmediate(resolve))
    return agent.lastSeq === lastSeq && agent.state === 'idle' ? all : undefined
  }

  /** Reads the result of the command from the log, which alone holds it: the run may have ended in another process. */
  async #readResult(agent: Agent): Promise<void> {
    const { requestId } = this.#first
    const requests = new LoggedRequests()
    for await (const record of agent.readLog()) {
      requests.apply(record)
      if (record.type === 'run.start' && record.requestId === requestId) this.#from ??= record.seq
    }
    const came = requests.outcome(requestId)
    if (came?.status === 'ended') this.#result = came
  }

  #outcome(agent: Driven, settled: Settled, reporting: readonly Settled[]): Step {
    const { lastSeq: seq } = agent
    const error = this.#refused.get(this.#first.requestId)
    if (error !== undefined) return { outcome: { status: 'refused', seq, error } }
    const keys = [settled, ...reporting].flatMap((one) =>
      one.status === 'waiting' ? one.pending.map(({ key }) => key) : [],
    )
    const status = keys.length > 0 ? 'waiting' : settled.status === 'idle' ? 'done' : settled.status
    const { stopReason } = this.#result ?? {}
    const caller = status === 'done' ? this.#agents.callerOf(agent) : undefined
    return {
      outcome: {
        status,
        seq,
        ...(this.#from === undefined ? {} : { from: this.#from }),
        ...(stopReason === undefined ? {} : { stopReason }),
        ...(this.#result?.stopReason === 'error' && this.#result.error !== undefined
          ? { error: this.#result.error }
          : {}),
        ...(keys.length === 0 ? {} : { callIds: keys }),
      },
      ...(caller === undefined ? {} : { wakes: caller }),
      code: this.#agents.definitions.fingerprint(agent.definition),
      ...(this.#state === 'open' ? this.#agents.dueOf(agent) : {}),
      children: this.#agents.countOf(agent),
    }
  }

  async #end(agent: Driven): Promise<void> {
    // The engine wakes one that waits for a time; it would do so by itself here.
    const isTimed = this.#agents.dueOf(agent).due !== undefined
    const isWarm = agent.state === 'idle' && !isTimed && this.#agents.reporting(agent).length === 0
    if (isWarm) await this.#agents.keep(agent)
    else await this.#agents.letGo(agent)
    this.#ended()
  }

  #ended(): void {
    this.#state = 'ended'
    for (const end of this.#endings.splice(0)) end()
    this.#free?.()
    this.#free = undefined
    this.#leave?.()
    this.#leave = undefined
  }

  #checkSignal(): void {
    if (this.#signal.aborted && this.#state !== 'cancelled') throw new AttemptOver('The engine has ended this attempt.')
  }
}

/** Gives a machine an event. Rejects as its `send` does, and with `MACHINE_NOT_FOUND` for an agent. */
async function eventOf(driven: Driven, event: object, requestId: string): Promise<void> {
  if (driven instanceof DrivenMachine) return await driven.event(event, requestId)
  throw new RuntimeError('MACHINE_NOT_FOUND', `"${driven.id}" is an agent, and no machine.`)
}

/** Returns true for a command that ends the run of the first command, begun or not. */
const takesBack = ({ command }: Carried, { requestId }: Carried): boolean =>
  command.type === 'agent.stop' ||
  (command.type === 'agent.abort' && (command.run === undefined || command.run === requestId))

/** @throws RuntimeError worth another attempt: the store failed, or another worker has taken the agent. */
function checkSettled(agentId: string, settled: Settled, isStopping: boolean): void {
  if (settled.status === 'paused' && settled.reason.type === 'store')
    throw new RuntimeError('STORE_APPEND_FAILED', `Agent "${agentId}" could not write: ${settled.reason.error.message}`)
  if (settled.status === 'stopped' && !isStopping) {
    const why = settled.error === undefined ? '' : `: ${settled.error.message}`
    throw new RuntimeError('AGENT_DETACHED', `Agent "${agentId}" ended here while it worked${why}`)
  }
}
