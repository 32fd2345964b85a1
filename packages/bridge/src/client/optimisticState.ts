import { hasCode, RuntimeError } from '../../../../src/protocol/errors.ts'
import { difference, frozenState } from '../../../../src/protocol/parts/state/patch.ts'
import { drafted } from '../../../../src/protocol/parts/state/drafted.ts'
import { plainState } from '../../../../src/protocol/parts/state/plainState.ts'
import type { AgentStore } from './agentStore.ts'
import type { AppState } from './fold/foldAppState.ts'
import type { RemoteAgent } from './remoteAgent.ts'

/** A function that changes a draft of the state, or returns another state. It is called again if the underlying state changes. */
export type StateUpdate = (draft: never) => unknown

/** The state of a followed agent with its pending changes applied. They are visible immediately, and undone if they are refused. */
export class OptimisticState {
  readonly #store: AgentStore
  readonly #agent: () => Pick<RemoteAgent, 'patchState'>
  readonly #listeners = new Set<() => void>()
  /** Pending changes, oldest first. */
  #pending: readonly StateUpdate[] = []
  /** The last change that was sent: the next one waits for it. */
  #last: Promise<unknown> = Promise.resolve()
  #shown:
    | { readonly of: AppState | null; readonly pending: readonly StateUpdate[]; readonly value: unknown }
    | undefined

  constructor(store: AgentStore, agent: () => Pick<RemoteAgent, 'patchState'>) {
    this.#store = store
    this.#agent = agent
  }

  /** Returns the state with the pending changes; `undefined` while it is not known. The same object until it changes. */
  readonly getSnapshot = (): unknown => {
    const { appState: of } = this.#store.view
    const pending = this.#pending
    if (this.#shown?.of !== of || this.#shown.pending !== pending) {
      const value = of === null ? undefined : pending.reduce<unknown>(tried, of.value)
      this.#shown = { of, pending, value }
    }
    return this.#shown.value
  }

  /** Follows the agent, and calls `listener` after changes. Returns a function that unsubscribes. */
  readonly subscribe = (listener: () => void): (() => void) => {
    const end = this.#store.subscribe(listener)
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
      end()
    }
  }

  /**
   * Changes the state. If another author has changed the same place meanwhile, the function is called once more with the newest state.
   * Resolves to the new state. Rejects with `STATE_CONFLICT` if that happens again, and as `updateState` of a client's agent does.
   */
  readonly update = (update: StateUpdate): Promise<unknown> => {
    this.#set([...this.#pending, update])
    const sent = this.#last.then(() => this.#send(update))
    this.#last = sent.catch(() => {})
    return sent
  }

  async #send(update: StateUpdate): Promise<unknown> {
    try {
      return await this.#once(update).catch(async (thrown: unknown) => {
        if (!hasCode(thrown, 'STATE_CONFLICT')) throw thrown
        await this.#store.refresh()
        return this.#once(update)
      })
    } finally {
      this.#set(this.#pending.filter((other) => other !== update))
    }
  }

  async #once(update: StateUpdate): Promise<unknown> {
    if (this.#store.view.appState === null) await this.#store.refresh()
    const { appState } = this.#store.view
    if (appState === null)
      throw new RuntimeError('STATE_OFF', 'The agent has no state, or none that this client may see.')
    const next = plainState(drafted(appState.value, update))
    const patch = difference(appState.value, next)
    if (patch.length === 0) return appState.value
    await this.#agent().patchState(patch, appState.version)
    // What the others see of it is known before it is no longer under way.
    await this.#store.refresh()
    return this.#store.view.appState?.value ?? next
  }

  #set(pending: readonly StateUpdate[]): void {
    this.#pending = pending
    for (const listener of this.#listeners) listener()
  }
}

/** Returns a state with a pending change applied, or without it if its function fails for this state. */
function tried(value: unknown, update: StateUpdate): unknown {
  try {
    return frozenState(plainState(drafted(value, update)))
  } catch {
    return value
  }
}
