import { callbackBugs, isLikelyBug } from '../../../../src/protocol/callbackBugs.ts'
import { messageOf, RuntimeError, type ErrorInfo } from '../../../../src/protocol/errors.ts'
import type { Decision } from '../../../../src/protocol/bridge/commands.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import type { Pending, PendingOf } from '../../../../src/protocol/runs/pending.ts'
import { pendingIn } from '../../../wire/src/pendingIn.ts'

/** A call of a tool that has no `run`, for a client to carry out. */
export interface ClientCall {
  /** The agent that made the call: this one, or one of its descendants. */
  readonly agentId: string
  readonly callId: string
  /** Key of the call, the same for every repetition: an idempotency key for its effects. */
  readonly key: string
  readonly name: string
  /** Signal that is aborted when the call no longer waits, because another client was faster or the run was aborted. */
  readonly signal: AbortSignal
}

export type CallFunction = (input: unknown, call: ClientCall) => unknown

/** The agent whose calls are carried out. */
interface Caller {
  subscribe(listener: (event: AgentEvent) => void): () => void
  snapshot(): Promise<{ readonly asked?: readonly Pending[] }>
  decide(key: string, decision: Decision): Promise<void>
  report(error: ErrorInfo): void
}

/** Carries out the calls of some tools, each once, and sends their results to the agent. */
export class CallAnswers {
  readonly #agent: Caller
  readonly #functions = new Map<string, CallFunction>()
  /** Calls that are being carried out, by key. */
  readonly #open = new Map<string, AbortController>()
  #unsubscribe: (() => void) | undefined

  constructor(agent: Caller) {
    this.#agent = agent
  }

  /**
   * Carries out later calls of the tool, and calls that already wait. Returns a function that removes `carryOut`.
   * @throws RuntimeError `INVALID_OPTION`
   */
  add(name: string, carryOut: CallFunction): () => void {
    if (typeof carryOut !== 'function')
      throw new RuntimeError(
        'INVALID_OPTION',
        `onCall takes the name of a tool and a function, not ${typeof carryOut}.`,
      )
    if (this.#functions.has(name))
      throw new RuntimeError('INVALID_OPTION', `The calls of "${name}" are carried out by another function.`)
    this.#functions.set(name, carryOut)
    this.#unsubscribe ??= this.#agent.subscribe((event) => this.#take(event))
    void this.look()
    return () => this.#remove(name)
  }

  /** Looks for waiting calls, because calls of sub-agents may have been missed during a reconnect. */
  async look(): Promise<void> {
    if (this.#functions.size === 0) return
    try {
      const { asked = [] } = await this.#agent.snapshot()
      for (const pending of asked) this.#begin(pending)
    } catch (thrown) {
      this.#report(thrown)
    }
  }

  #remove(name: string): void {
    this.#functions.delete(name)
    if (this.#functions.size > 0) return
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
  }

  #take(event: AgentEvent): void {
    if (event.type === 'tool.end') this.#open.get(event.key)?.abort(new Error('The call waits no more.'))
    if (event.type === 'call.requested') this.#begin(pendingIn(event.agentId, event)!)
  }

  #begin(pending: Pending): void {
    const carryOut = pending.kind === 'call' ? this.#functions.get(pending.name) : undefined
    if (carryOut === undefined || pending.kind !== 'call' || this.#open.has(pending.key)) return
    const controller = new AbortController()
    this.#open.set(pending.key, controller)
    void this.#carryOut(pending, carryOut, controller.signal).finally(() => this.#open.delete(pending.key))
  }

  async #carryOut(call: PendingOf<'call'>, carryOut: CallFunction, signal: AbortSignal): Promise<void> {
    const { input, kind: _, ...place } = call
    const decision = await outcomeOf(call.name, () => carryOut(input, { ...place, signal }))
    if (signal.aborted) return
    try {
      await this.#agent.decide(call.key, decision)
    } catch (thrown) {
      // Another client was faster.
      if (!(thrown instanceof RuntimeError && thrown.code === 'CALL_NOT_PENDING')) this.#report(thrown)
    }
  }

  #report(thrown: unknown): void {
    const code = thrown instanceof RuntimeError ? thrown.code : 'INTERNAL'
    this.#agent.report({ code, message: messageOf(thrown) })
  }
}

async function outcomeOf(name: string, run: () => unknown): Promise<Decision> {
  try {
    return { result: await run() }
  } catch (thrown) {
    if (isLikelyBug(thrown)) callbackBugs.tell(`onCall of tool "${name}"`, thrown)
    return { error: messageOf(thrown) }
  }
}
