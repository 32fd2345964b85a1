import type { AgentMachineEvent } from '../../machines/agentTypes.ts'
import { RuntimeError } from '../../protocol/errors.ts'

/** The agent that is unloaded. */
interface UnloadedOwner {
  readonly agentId: string
  /** Reads the agent's log again, then calls `begin`. Rejects with the store's errors and `RUNTIME_CLOSED`, `AGENT_STOPPED`, `AGENT_NOT_FOUND`. */
  reload(begin: () => void): Promise<unknown>
  /** Starts the agent with the commands that have waited. */
  start(commands: readonly AgentMachineEvent[]): void
  /** Reports that the agent could not be loaded, so that the commands will not be carried out. */
  notLoaded(thrown: unknown): void
  readonly machine: { readonly isAsleep: boolean; end(how: 'stop' | 'close'): Promise<void>; over(crash: null): void }
  readonly family: { changed(): void }
  readonly runs: { endAll(crash: null): void }
  readonly dueTimer: { end(): void }
  readonly announcer: { fail(thrown: unknown): void; over(): void }
}

const nothing: readonly never[] = Object.freeze([])
const nothingLeft = Promise.resolve()

/**
 * An agent while it is unloaded. The first command loads it again, and commands that arrive meanwhile wait and are
 * executed in order. If loading fails, their runs end with the error and the next command tries again.
 */
export class Unloaded {
  readonly #owner: UnloadedOwner
  /** Resolves once the log is released after the unload. */
  released = nothingLeft
  #commands: AgentMachineEvent[] | undefined
  #loading: Promise<void> | undefined
  #ending: { readonly how: 'stop' | 'close'; readonly done: Promise<void> } | undefined
  /** True if the agent ended without being loaded again. */
  isOver = false

  constructor(owner: UnloadedOwner) {
    this.#owner = owner
  }

  /** Notes that the log is still being written and released; loading waits for that. */
  releasing(release: Promise<void>): void {
    this.released = release
      .catch((thrown: unknown) => this.#owner.announcer.fail(thrown))
      .finally(() => {
        this.released = nothingLeft
      })
  }

  get isStopped(): boolean {
    return this.isOver || this.#ending !== undefined
  }

  /** Number of commands that wait. */
  get unseen(): number {
    return this.#commands?.length ?? 0
  }

  send(event: AgentMachineEvent): void {
    // An idle agent has nothing to abort.
    const hasNothing = this.unseen === 0 && !this.#owner.machine.isAsleep
    if (event.type === 'withdraw' && hasNothing) return
    if (event.type === 'abort' && (hasNothing || this.#commands?.at(-1)?.type === 'abort')) return
    this.#commands ??= []
    this.#commands.push(event)
    void this.load().catch(() => {})
  }

  /** Loads the agent, once for all concurrent callers. Rejects with `AGENT_STOPPED` if it was closed, and as `reload` does. */
  load(): Promise<void> {
    if (!this.isOver) return (this.#loading ??= this.#load())
    return Promise.reject(new RuntimeError('AGENT_STOPPED', `Agent "${this.#owner.agentId}" has stopped.`))
  }

  async #load(): Promise<void> {
    try {
      await this.released
      await this.#owner.reload(() => this.#begin())
    } catch (thrown) {
      this.#loading = undefined
      this.#commands = undefined
      this.#owner.notLoaded(thrown)
      throw thrown
    }
  }

  #begin(): void {
    this.#owner.start(this.#commands ?? nothing)
    // Before what was asked has had a chance to ask a model.
    if (this.#ending !== undefined) void this.#owner.machine.end(this.#ending.how).catch(() => {})
  }

  /** Ends the agent. To stop it, it is loaded, because its log must say so. Idempotent; the first call decides, unless it failed. */
  end(how: 'stop' | 'close'): Promise<void> {
    if (this.#ending !== undefined) return this.#ending.done
    if (this.isOver || (this.#loading === undefined && how === 'close')) {
      this.#over()
      return Promise.resolve()
    }
    const done = this.#end(how)
    this.#ending = { how, done }
    return done
  }

  async #end(how: 'stop' | 'close'): Promise<void> {
    try {
      await this.load()
      await this.#owner.machine.end(how)
    } catch (thrown) {
      this.#ending = undefined
      if (how === 'stop') throw thrown
      this.#over()
    }
  }

  #over(): void {
    this.isOver = true
    this.#owner.dueTimer.end()
    // One that sleeps goes on in another life.
    this.#owner.runs.endAll(null)
    this.#owner.family.changed()
    this.#owner.machine.over(null)
    this.#owner.announcer.over()
  }
}
