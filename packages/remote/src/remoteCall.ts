import { cloneJson } from '../../../src/protocol/checks/cloneJson.ts'
import { hasCode, messageOf, RuntimeError } from '../../../src/protocol/errors.ts'
import type { Spent } from '../../../src/protocol/records.ts'
import { mayRestart, restartAt } from '../../../src/protocol/runs/restarts.ts'
import { jsonChars } from '../../../src/protocol/text/saidContent.ts'
import type { AgentPorts } from '../../../src/actors/agentPorts.ts'
import { pause, within } from '../../../src/protocol/ports/pause.ts'
import { PausableTimer } from '../../../src/actors/timing/pausableTimer.ts'
import type { InnerCalls } from '../../../src/actors/tools/innerCalls.ts'
import type { ToolContext } from '../../../src/actors/tools/toolContext.ts'
import { permit } from './permit.ts'
import type { RemoteAgentSpec, RemoteAnswer, RemoteHost } from './remoteAgent.ts'
import { Updates } from './updates.ts'

interface Bound {
  readonly ports: AgentPorts
  readonly signal: AbortSignal
  readonly calls: InnerCalls
  readonly context: Pick<ToolContext, 'callId' | 'changed' | 'keep' | 'snapshots'>
}

/** The receipt of a task. */
export interface KeptOfTask {
  readonly kept: readonly unknown[]
  /** True if some of the task's undo data is not kept. */
  readonly isPartial: boolean
}

/** Maximum length of a handle, in characters of JSON. */
const maxHandleChars = 4_000
/** Milliseconds in which an ended run of the agent must clean up. */
const endingMs = 5_000

/** A call that a remote agent carries out, across all its restarts. */
export class RemoteCall {
  readonly #entry: RemoteAgentSpec
  readonly #bound: Bound
  readonly #updates: Updates
  /** Ends the current run of the agent with a reason. Set while one is active. */
  #end: ((reason: Error) => void) | undefined
  #silence: PausableTimer | undefined
  #childId: string
  #kept: KeptOfTask

  constructor(entry: RemoteAgentSpec, bound: Bound) {
    this.#entry = entry
    this.#bound = bound
    const { ports, calls, context } = bound
    const known = ports.parts.remote?.[context.callId]
    this.#childId = known?.childId ?? ''
    // What was kept before a crash went with the process.
    this.#kept = { kept: [], isPartial: known !== undefined }
    this.#updates = new Updates(ports.clock, (kind, text) => {
      const at = ports.clock.now()
      const { name } = entry
      const { callId } = context
      ports.record([{ type: 'child.update', callId, key: calls.key, name, childId: this.#childId, at, kind, text }])
    })
  }

  /** Resolves with the agent's answer. Rejects with the error for the model if the task failed, and when the call is aborted. */
  async answer(text: string): Promise<RemoteAnswer> {
    const { signal, ports } = this.#bound
    const { restarts, name } = this.#entry
    const crashes: number[] = []
    const stopClock = this.#watchDeadline()
    try {
      for (;;) {
        try {
          return await this.#live(text)
        } catch (thrown) {
          signal.throwIfAborted()
          if (!hasCode(thrown, 'CHILD_CRASHED') && !hasCode(thrown, 'CHILD_STALLED')) throw thrown
          const at = ports.clock.now()
          if (!mayRestart(restarts, crashes, at)) throw givenUp(name, crashes.length, thrown)
          const until = restartAt(restarts, crashes, at)
          crashes.push(at)
          this.#updates.add('status', `${messageOf(thrown)} It is begun again.`)
          await pause(until - at, ports.clock, signal)
          signal.throwIfAborted()
        }
      }
    } finally {
      stopClock()
      this.#updates.close()
    }
  }

  async #live(text: string): Promise<RemoteAnswer> {
    const { signal, ports, calls, context } = this.#bound
    const life = new AbortController()
    const ended = Promise.withResolvers<never>()
    // The life may be over by then.
    ended.promise.catch(() => {})
    const end = (reason: Error): void => {
      ended.reject(reason)
      life.abort(reason)
    }
    const aborted = (): void => end(signal.reason as Error)
    signal.addEventListener('abort', aborted)
    this.#end = end
    this.#alive()
    const known = ports.parts.remote?.[context.callId]
    const task = { text, key: calls.key, ...(known === undefined ? {} : { handle: known.handle }) }
    const run = this.#entry.run(task, this.#host(life.signal))
    try {
      return await Promise.race([run, ended.promise])
    } catch (thrown) {
      // The next life must not meet this one.
      if (life.signal.aborted && !signal.aborted) await within(ports.clock, endingMs, run, signal)
      throw thrown
    } finally {
      this.#end = undefined
      this.#silence?.pause()
      signal.removeEventListener('abort', aborted)
      run.catch(() => {})
    }
  }

  #host(signal: AbortSignal): RemoteHost {
    const { ports, calls, context } = this.#bound
    return {
      signal,
      clock: ports.clock,
      redact: ports.redactor,
      note: (childId, handle) => this.#note(childId, handle),
      update: (kind, text) => {
        this.#alive()
        // A secret that is cut in half is no longer recognised.
        this.#updates.add(kind, ports.redactor?.value(text) ?? text)
      },
      alive: () => this.#alive(),
      permit: (request) => this.#people(() => permit(ports, calls, request)),
      ask: (schema, question, isAgain = false) => this.#people(() => calls.ask(schema, question, isAgain)),
      used: (spent) => this.#used(spent),
      changed: (path) => context.changed(path),
      keep: (kept) => this.#keep(kept),
      snapshots: context.snapshots,
    }
  }

  #keep(entry: unknown): void {
    const { context } = this.#bound
    const { kept, isPartial } = this.#kept
    try {
      this.#kept = { kept: [...kept, entry], isPartial }
      context.keep(this.#kept)
    } catch {
      this.#kept = { kept, isPartial: true }
      context.keep(this.#kept)
    }
  }

  async #note(childId: string, given: unknown): Promise<void> {
    const { calls, context } = this.#bound
    const handle = cloneJson(given)
    const chars = jsonChars(handle)
    if (chars > maxHandleChars)
      throw new Error(`The handle of its task has ${chars} characters, more than ${maxHandleChars}.`)
    this.#childId = childId
    const { name, protocol } = this.#entry
    const { callId } = context
    await calls.record([{ type: 'child.noted', callId, key: calls.key, name, childId, protocol, handle }])
  }

  #used(spent: Spent): void {
    this.#bound.calls.used(spent)
    const { name, limits = {} } = this.#entry
    const { usage, costUsd, turns } = spent
    const tokens = usage.input + usage.output
    const over = (['turns', 'tokens', 'costUsd'] as const).find((limit) => {
      const used = { turns, tokens, costUsd }[limit]
      return used > (limits[limit] ?? Infinity)
    })
    if (over !== undefined)
      this.#end?.(new Error(`The agent "${name}" did not finish: its limit of ${limits[over]} ${over} is used up.`))
  }

  #alive(): void {
    const { stallMs = Infinity, name } = this.#entry
    // A life that is over may still say something.
    if (stallMs === Infinity || this.#end === undefined) return
    this.#silence?.pause()
    this.#silence = new PausableTimer(this.#bound.ports.clock, stallMs, () =>
      this.#end?.(new RuntimeError('CHILD_STALLED', `The agent "${name}" gave no sign of life for ${stallMs} ms.`)),
    )
    this.#silence.resume()
  }

  /** Runs `work`, in which people take their time, without counting the agent as silent. */
  async #people<T>(work: () => Promise<T>): Promise<T> {
    this.#silence?.pause()
    try {
      return await work()
    } finally {
      this.#alive()
    }
  }

  /** Ends the call at the run's deadline, which waiting for people may have postponed. */
  #watchDeadline(): () => void {
    const { ports } = this.#bound
    const { name } = this.#entry
    let cancel = (): void => {}
    const arm = (): void => {
      const { deadline } = ports
      if (deadline === null) return
      const left = deadline - ports.clock.now()
      if (left <= 0) return this.#end?.(new Error(`The agent "${name}" did not finish: the time of this run is over.`))
      cancel = ports.clock.after(left, arm)
    }
    arm()
    return () => cancel()
  }
}

const givenUp = (name: string, restarts: number, thrown: unknown): Error =>
  new Error(
    restarts === 0
      ? messageOf(thrown)
      : `The agent "${name}" was begun anew ${restarts} times, and crashed each time. The last time: ${messageOf(thrown)}`,
    { cause: thrown },
  )
