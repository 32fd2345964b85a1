import { z } from 'zod'
import { type AgentDefinition, isAgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import { firstRecord } from '../../../src/log/readHistory.ts'
import { optionsCheck } from '../../../src/protocol/checks/optionsCheck.ts'
import { type ErrorCode, hasCode, messageOf, RuntimeError } from '../../../src/protocol/errors.ts'
import type { Clock } from '../../../src/protocol/ports/clock.ts'
import type { Logger } from '../../../src/protocol/ports/logger.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import type { DueAgent } from '../../../src/protocol/ports/timers.ts'
import { hostOf } from '../../../src/runtime/agents/agentFacts.ts'
import type { AgentRuntime } from '../../../src/runtime/agentRuntime.ts'
import type { ResumeAllOptions } from './resumeAll.ts'

/** A machine kept in its own logs, as returned by `defineHost` of `escapement/xstate`. */
export interface WakeableMachine {
  readonly name: string
  open(runtime: AgentRuntime, id: string): Promise<OpenMachine>
}

/** An open machine. */
interface OpenMachine {
  /** True while something holds the machine or listens to it. It then stays open and keeps its own timers. */
  readonly isAttended: boolean
  settled(options: { readonly signal: AbortSignal }): Promise<void>
  close(): Promise<void>
}

/** Options of `runtime.wake`. */
export interface WakeOptions {
  /** Definitions of the agents, found by name. */
  readonly definitions: readonly AgentDefinition[]
  /** Machines that are kept as agents are, found by name. Default: none. */
  readonly machines?: readonly WakeableMachine[]
  /** Returns the `deps` of each agent. Without it, agents whose definitions need `deps` are left alone. Default: none. */
  readonly deps?: NonNullable<ResumeAllOptions['deps']>
  /** Interval in milliseconds at which the store is asked for due agents. Default: 5,000. */
  readonly everyMs?: number
  /** Number of agents that are woken at a time. Default: 16. */
  readonly atOnce?: number
}

/** Wakes agents until `close` is called. */
export interface Waker {
  /** Stops waking, and releases the agents at work, which another process may continue. Idempotent. */
  close(): Promise<void>
}

const isFunction = () => z.custom((value) => typeof value === 'function', 'give a function')

const check = optionsCheck(
  { definitions: () => z.array(z.custom<AgentDefinition>(isAgentDefinition, 'give what defineAgent returns')) },
  {
    machines: () => z.array(z.looseObject({ name: z.string(), open: isFunction() })),
    deps: isFunction,
    everyMs: () => z.number().positive(),
    atOnce: () => z.int().positive(),
  },
)

/** Runtime and store in which agents are woken. */
interface Parts {
  readonly runtime: AgentRuntime
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger | undefined
}

/** Maximum number of agents that are requested from the store at a time. */
const mostDue = 1_000
/** Time for which an agent that cannot be woken here is left alone, in milliseconds. */
const leftMs = 3_600_000
/** Errors for which another process has the agent and fires its timers, or will later. */
const elsewhere: readonly ErrorCode[] = [
  'AGENT_ELSEWHERE',
  'STORE_LOCKED',
  'AGENT_EXISTS',
  'AGENT_DETACHED',
  'STORE_LEASE_LOST',
]

/**
 * Begins to wake agents when they are due.
 * @throws RuntimeError `INVALID_OPTION`, also for a store without `timers`
 */
export function startWaker(parts: Parts, options: WakeOptions): Waker {
  const wrong = check(options)
  if (wrong !== undefined) throw new RuntimeError('INVALID_OPTION', `wake: ${wrong}.`)
  if (parts.store.timers === undefined)
    throw new RuntimeError('INVALID_OPTION', 'wake: the store has no index of times (timers).')
  return new PollingWaker(parts, options)
}

class PollingWaker implements Waker {
  readonly #parts: Parts
  readonly #byName: ReadonlyMap<string, AgentDefinition>
  readonly #machines: ReadonlyMap<string, WakeableMachine>
  readonly #closing = new AbortController()
  readonly #deps: WakeOptions['deps']
  readonly #everyMs: number
  readonly #atOnce: number
  /** Agents that are being woken, or at work. */
  readonly #awake = new Map<string, Promise<void>>()
  /** Agents that cannot be woken here, each with the time of the next try. */
  readonly #left = new Map<string, number>()
  #cancel: (() => void) | undefined
  #polling: Promise<void> | undefined
  #closed: Promise<void> | undefined

  constructor(parts: Parts, { definitions, machines = [], deps, everyMs = 5_000, atOnce = 16 }: WakeOptions) {
    this.#parts = parts
    this.#byName = new Map(definitions.map((definition) => [definition.name, definition]))
    this.#machines = new Map(machines.map((machine) => [machine.name, machine]))
    this.#deps = deps
    this.#everyMs = everyMs
    this.#atOnce = atOnce
    this.#next(0)
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    this.#cancel?.()
    this.#closing.abort(new Error('The waker was closed.'))
    await this.#polling
    const { runtime } = this.#parts
    await Promise.allSettled([...this.#awake.keys()].map((id) => runtime.detach(id)))
    await Promise.allSettled(this.#awake.values())
  }

  #next(ms: number): void {
    if (this.#closed !== undefined) return
    this.#cancel = this.#parts.clock.after(ms, () => {
      this.#polling = this.#poll().then(() => {
        this.#polling = undefined
        this.#next(this.#everyMs)
      })
    })
  }

  async #poll(): Promise<void> {
    const { store, clock, runtime, logger } = this.#parts
    const now = clock.now()
    for (const [id, until] of this.#left) if (until <= now) this.#left.delete(id)
    try {
      const due = await store.timers!.due(now, mostDue + this.#left.size + this.#awake.size)
      for (const entry of due) {
        const { agentId } = entry
        if (this.#awake.has(agentId) || this.#left.has(agentId) || runtime.agent(agentId) !== undefined) continue
        while (this.#awake.size >= this.#atOnce) await Promise.race(this.#awake.values())
        if (this.#closed !== undefined) return
        this.#awake.set(
          agentId,
          this.#wake(entry).finally(() => this.#awake.delete(agentId)),
        )
      }
    } catch (thrown) {
      logger?.warn({}, `what is due could not be read: ${messageOf(thrown)}`)
    }
  }

  /** Opens an agent, which fires its due timers, and closes it once it has nothing more to do. Never rejects. */
  async #wake({ agentId }: DueAgent): Promise<void> {
    const { runtime, store } = this.#parts
    try {
      // Cheaper than to try: most are at work in another process.
      const holder = await store.holder?.(agentId)
      if (holder !== undefined && !holder.isHere) return
      const created = await firstRecord(store, agentId)
      if (created?.type === 'host.created') return await this.#wakeMachine(agentId, created.machine)
      if (created?.type !== 'agent.created') return
      const { definition: name, metadata } = created
      const definition = this.#byName.get(name)
      if (definition === undefined) return this.#leave(agentId, `its definition ${JSON.stringify(name)} was not given`)
      const stored = { id: agentId, definition: name, ...(metadata === undefined ? {} : { metadata }) }
      const deps = { deps: await this.#deps?.(stored) }
      if (definition.deps !== null && deps.deps === undefined)
        return this.#leave(agentId, 'it needs deps, and has none')
      const agent = await runtime.resume(agentId, definition, deps)
      await agent.settled()
      const { machine, announcer } = hostOf(agent)
      // Somebody listens to it: it stays, and keeps its times itself.
      if (!machine.isAttended && !announcer.isAttended) await agent.close()
    } catch (thrown) {
      if (hasCode(thrown, 'AGENT_STOPPED')) await this.#forget(agentId)
      else if (!elsewhere.some((code) => hasCode(thrown, code))) this.#leave(agentId, messageOf(thrown))
    }
  }

  async #wakeMachine(id: string, name: string): Promise<void> {
    const machine = this.#machines.get(name)
    if (machine === undefined) return this.#leave(id, `its machine ${JSON.stringify(name)} was not given`)
    const open = await machine.open(this.#parts.runtime, id)
    if (open.isAttended) return
    const { signal } = this.#closing
    await open.settled({ signal }).catch((thrown: unknown) => {
      if (!signal.aborted) throw thrown
    })
    if (!open.isAttended) await open.close()
  }

  #leave(agentId: string, why: string): void {
    const { clock, logger } = this.#parts
    this.#left.set(agentId, clock.now() + leftMs)
    logger?.warn({ agentId }, `a schedule is due, and its agent was not woken: ${why}`)
  }

  /** Removes the time of an agent that was stopped for good. */
  async #forget(agentId: string): Promise<void> {
    const { store } = this.#parts
    try {
      const lease = await store.open(agentId)
      try {
        await store.timers!.set(agentId, null, lease.epoch)
      } finally {
        await lease.release()
      }
    } catch (thrown) {
      this.#leave(agentId, messageOf(thrown))
    }
  }
}
