import type { Cancellation } from '../../actors/timing/cancellation.ts'
import { waitForName } from '../../actors/tools/waitForTool.ts'
import type { AgentContext, CallState, AgentMachineEvent } from '../../machines/agentTypes.ts'
import type { Clock } from '../../protocol/ports/clock.ts'
import { errorInfo, type ErrorInfo, messageOf } from '../../protocol/errors.ts'
import { scheduling } from '../../actors/parts/schedules/scheduling.ts'
import { dueSchedules, earliestDue, failedSchedules, isOwing, wakeAt } from '../../machines/schedules.ts'
import { isSleeping, sleepers } from '../../machines/sleepEnds.ts'
import type { EndedSchedule, PlannedFiring } from '../../machines/schedulePlans.ts'
import type { TimerIndex } from '../../protocol/ports/timers.ts'

/** An agent in its tree, with its signs of activity. */
interface Heard {
  readonly agentId: string
  readonly shared: { readonly clock: Clock }
  readonly machine: { readonly context: Pick<AgentContext, 'pause' | 'calls'> }
  /** `waitsFor`: id of the model that the agent waits for, within the limits of the runtime. */
  readonly ports: { readonly waitsFor: string | null }
  readonly parent: Heard | undefined
  readonly family: { readonly live: readonly Heard[] }
  readonly stallTimer: StallTimer
}

/** Measures the time since an agent, or one below it, last showed activity. */
export class StallTimer {
  readonly #agent: Heard
  /** True while the time is needed. Reading the clock for every delta would add up. */
  #isRunning = false
  #last = 0

  constructor(agent: Heard) {
    this.#agent = agent
  }

  /** Notes activity, which also counts for the agents above. */
  reset(): void {
    for (let at: Heard | undefined = this.#agent; at !== undefined; at = at.parent)
      if (at.stallTimer.#isRunning) at.stallTimer.#last = at.shared.clock.now()
  }

  /** Resolves after `ms` without activity, not counting waits for people or models. Call `cancel` when it is no longer needed. */
  stalled(ms: number, cancellation: Cancellation): { readonly promise: Promise<ErrorInfo>; cancel(): void } {
    const stalled = Promise.withResolvers<ErrorInfo>()
    if (ms === Infinity) return { promise: stalled.promise, cancel: () => {} }
    const { shared, agentId } = this.#agent
    const { clock } = shared
    let stop = (): void => {}
    const look = (): void => {
      if (isWaiting(this.#agent)) this.#last = clock.now()
      const left = this.#last + ms - clock.now()
      if (left > 0) stop = clock.after(left, look)
      else stalled.resolve(errorInfo('CHILD_STALLED', `Nothing was heard of agent "${agentId}" for ${ms} ms.`))
    }
    this.#isRunning = true
    this.#last = clock.now()
    stop = clock.after(ms, look)
    const cancel = (): void => {
      this.#isRunning = false
      stop()
      cancellation.remove(cancel)
    }
    cancellation.add(cancel)
    return { promise: stalled.promise, cancel }
  }
}

/** Returns true if an agent, or one below it, waits for people, for agents that report or for its turn at a model. */
const isWaiting = ({ machine: { context }, ports, family }: Heard): boolean =>
  context.pause !== null || ports.waitsFor !== null || context.calls.some(waits) || family.live.some(isWaiting)

const waits = ({ name, status }: CallState): boolean => name === waitForName && status === 'running'

interface Timed {
  readonly agentId: string
  readonly shared: { readonly clock: Clock }
  readonly machine: {
    readonly context: AgentContext
    readonly open: AgentContext | undefined
    tell(event: AgentMachineEvent): void
  }
  readonly isLoaded: boolean
  /** True if runs may begin without dependencies of their own. Otherwise nothing fires here. */
  readonly isEquipped: boolean
  /** Index of wake-up times in the store; `undefined` if there is none, or the agent is not woken by itself. */
  readonly timers: TimerIndex | undefined
  readonly log: { durable(): Promise<void> | undefined; readonly epoch: number | undefined }
  loaded(work: () => Promise<void>): Promise<void>
  warn(message: string): void
}

/** Time to wait after the agent could not be loaded, in milliseconds. */
const againMs = 60_000

/** Timer options that let the process end earlier. The process that opens the agent next then fires the due schedules. */
const quietly = { quiet: true } as const

/** Longest single wait, in milliseconds, because a clock may be set, and timers of some hosts take no longer ones. */
const longestWaitMs = 86_400_000

/**
 * Fires the schedules of one agent and wakes its sleeping calls while it is live. After the log, it writes the agent's next wake-up
 * time into the store's index. It checks with each step of the chart. An unloaded agent keeps its timer, and is loaded when it is due.
 */
export class DueTimer {
  readonly #agent: Timed
  #at: number | null = null
  #cancel: (() => void) | undefined
  /** The time in the index; `undefined` if it is not known. */
  #indexed: number | null | undefined
  #writing: Promise<void> | undefined

  constructor(agent: Timed) {
    this.#agent = agent
  }

  /** Checks for due times. The agent may be unloaded. */
  look(): void {
    const { machine, isLoaded } = this.#agent
    if (isLoaded) this.stepped(machine.context)
  }

  /** Handles a step of the agent's chart. */
  stepped(context: AgentContext): void {
    // An agent that never had one has nothing to do here.
    if (context.parts.schedules === undefined && this.#indexed === undefined && !context.calls.some(isSleeping)) return
    this.#index(wakeAt(context))
    if (
      this.#agent.machine.open === undefined ||
      context.isAsleep ||
      context.storeError !== null ||
      context.ending !== null
    )
      return
    // One time for both: a moment between two readings would neither fire nor be waited for.
    const now = this.#agent.shared.clock.now()
    if (this.#agent.isEquipped) this.#fire(context, now)
    this.#wait(now)
  }

  /** Cancels the timer. Also called when the agent has ended here. */
  end(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#at = null
  }

  /** Resolves once the index has the times it was given. Never rejects. */
  async settled(): Promise<void> {
    await this.#writing
  }

  /** Forgets the time in the index, which may change elsewhere once the log is released. */
  forget(): void {
    this.#indexed = undefined
  }

  #fire(context: AgentContext, now: number): void {
    const keys = sleepers(context).flatMap(({ until, key }) => (until <= now ? [key] : []))
    if (keys.length > 0) this.#agent.machine.tell({ type: 'timer', keys, at: now })
    const ended: EndedSchedule[] = failedSchedules(context)
    const firings = dueSchedules(context, now).flatMap((schedule): PlannedFiring[] => {
      const { id, due } = schedule
      if (ended.some((other) => other.id === id)) return []
      try {
        return [{ id, expected: due, ...scheduling.fire!(schedule, now) }]
      } catch (thrown) {
        ended.push({ id, why: 'invalid', reason: messageOf(thrown) })
        return []
      }
    })
    if (firings.length + ended.length > 0 || isOwing(context))
      this.#agent.machine.tell({ type: 'schedules', firings, ended, at: now })
  }

  #wait(now: number): void {
    const { machine, shared } = this.#agent
    const context = machine.open
    const at = context === undefined ? null : earliestDue(context)
    // What is due and not fired waits for a step of the chart.
    const next = at === null || at <= now ? null : Math.min(at, now + longestWaitMs)
    if (next === this.#at && this.#cancel !== undefined) return
    this.end()
    if (next === null) return
    this.#at = next
    // Somebody waits for a run that sleeps.
    const options = context?.run == null ? quietly : undefined
    this.#cancel = shared.clock.after(next - now, () => this.#ring(), options)
  }

  #ring(): void {
    this.end()
    const { machine, isLoaded, shared } = this.#agent
    if (isLoaded) return this.look()
    const at = machine.open === undefined ? null : earliestDue(machine.open)
    const now = shared.clock.now()
    // It is not time yet: the wait was too long for one timer.
    if (at === null || at > now) return this.#wait(now)
    this.#agent
      .loaded(async () => {})
      .then(
        () => this.look(),
        (thrown: unknown) => this.#tryAgain(messageOf(thrown)),
      )
  }

  /** Sets a timer to load the agent later, because the store may be back then. */
  #tryAgain(why: string): void {
    const { machine, shared, warn } = this.#agent
    warn.call(this.#agent, `a time has come, and its agent was not loaded: ${why}`)
    if (machine.open !== undefined && this.#cancel === undefined)
      this.#cancel = shared.clock.after(againMs, () => this.#ring(), quietly)
  }

  #index(at: number | null): void {
    if (at === this.#indexed) return
    this.#indexed = at
    if (this.#writing === undefined && this.#agent.timers !== undefined) this.#writing = this.#write(this.#agent.timers)
  }

  async #write(timers: TimerIndex): Promise<void> {
    const { agentId, log } = this.#agent
    let written: number | null | undefined
    try {
      while (written !== this.#indexed && this.#indexed !== undefined) {
        await log.durable()
        const at = (written = this.#indexed)
        await timers.set(agentId, at, log.epoch)
      }
    } catch (thrown) {
      // The log has it: whoever opens the agent next writes it.
      this.#indexed = undefined
      this.#agent.warn(`the index of times was not written: ${messageOf(thrown)}`)
    } finally {
      this.#writing = undefined
    }
  }
}
