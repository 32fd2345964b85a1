import type { AbortOptions } from '../../../src/protocol/bridge/abortOptions.ts'
import { RuntimeError, toErrorInfo, type ErrorInfo } from '../../../src/protocol/errors.ts'
import type { AgentSummary } from '../../wire/src/frames.ts'
import type { WaitingAgent } from '../../../src/protocol/runs/pending.ts'
import type { Role } from '../../wire/src/rights.ts'
import { AgentStore, type Followed } from '../../bridge/src/client/agentStore.ts'
import type { Client } from '../../bridge/src/client/client.ts'
import type { RemoteSpawnOptions } from '../../bridge/src/client/remoteQueries.ts'
import { callAll, Counted, type CountedOptions } from '../../bridge/src/client/counted.ts'
import { OptimisticState } from '../../bridge/src/client/optimisticState.ts'
import type { ClientStatus } from '../../bridge/src/client/reconnectingLink.ts'
import type { RemoteAgent } from '../../bridge/src/client/remoteAgent.ts'

/** The connection to the server. */
export interface ConnectionFacts {
  readonly status: ClientStatus
  /** Time of the next attempt, in epoch milliseconds. */
  readonly retryAt?: number
  /** Role of the client, once that is known. */
  readonly role?: Role
  /** Names of the agents that the client may spawn. */
  readonly definitions: readonly string[]
  /** Last error, until the next connection. */
  readonly error?: ErrorInfo
}

const connecting: ConnectionFacts = Object.freeze({ status: 'connecting', definitions: Object.freeze([]) })
const nobody: readonly AgentSummary[] = Object.freeze([])
const nothingWaits: readonly WaitingAgent[] = Object.freeze([])
/** Maximum number of agents that a server lists at once. */
const mostWaiting = 1_000

/** A value that views show, in the shape of React's `useSyncExternalStore`. */
class Shown<T> {
  readonly initial: T
  readonly #counted: Counted
  readonly #listeners = new Set<() => void>()
  readonly #follow: (show: (value: T) => void) => () => void
  #value: T
  #end: (() => void) | undefined

  /** `follow` begins to show values, and returns a function that stops it. */
  constructor(initial: T, follow: (show: (value: T) => void) => () => void, options: CountedOptions) {
    this.initial = initial
    this.#value = initial
    this.#follow = follow
    this.#counted = new Counted(this, options)
  }

  readonly getSnapshot = (): T => this.#value

  readonly subscribe = (listener: () => void): (() => void) => {
    const own = (): void => listener()
    this.#listeners.add(own)
    const leave = this.#counted.enter()
    return () => {
      this.#listeners.delete(own)
      leave()
    }
  }

  open(): void {
    this.#end ??= this.#follow((value) => {
      this.#value = Object.freeze(value)
      callAll(this.#listeners)
    })
  }

  close(): void {
    this.#end?.()
    this.#end = undefined
  }
}

/** Names of the most used commands; all others are in `agent`. */
export type CommandName = 'prompt' | 'interrupt' | 'resume' | 'steer' | 'followUp' | 'abort' | 'decide'

/** Commands to an agent that is shown. Each is always the same function, and needs no `this`. They throw if the agent cannot be found. */
type Commands = Omit<Pick<RemoteAgent, CommandName>, 'abort'> & {
  /** Aborts the agent. An event may come in place of options, as from `onClick={abort}`. */
  readonly abort: (options?: AbortOptions | { readonly type: string }) => Promise<void>
  readonly retry: () => void
}

const commandsOf = (store: AgentStore, agentOf: () => RemoteAgent): Commands => ({
  prompt: (content, options) => agentOf().prompt(content, options),
  interrupt: (content, options) => agentOf().interrupt(content, options),
  resume: (options) => agentOf().resume(options),
  steer: (content, options) => agentOf().steer(content, options),
  followUp: (content, options) => agentOf().followUp(content, options),
  abort: (options) => agentOf().abort(options as AbortOptions | undefined),
  decide: (key, decision, how) => agentOf().decide(key, decision, how),
  retry: () => store.retry(),
})

/** Returns an agent to show. `agentOf` finds it, and throws if there is no client. */
const shown = (store: AgentStore, agentOf: () => RemoteAgent) => ({
  store,
  state: new OptimisticState(store, agentOf),
  commands: commandsOf(store, agentOf),
  /** @throws RuntimeError `INVALID_OPTION`: there is no client. */
  get agent() {
    return agentOf()
  },
})

/** Returns an agent that stays loading, for a provider without a client. */
const waiting = (id: string): Followed => ({
  id,
  subscribe: () => () => {},
  snapshot: () => new Promise(() => {}),
})

/** Maximum number of agents kept after no component shows them, so that a component that shows one again has its state at once. */
const mostLeft = 32

/** State of a server for the components below a provider: each agent is followed once, however many components show it. */
export class AgentStores {
  readonly roster: Shown<readonly AgentSummary[]>
  readonly waiting: Shown<readonly WaitingAgent[]>
  readonly connection: Shown<ConnectionFacts>
  readonly #client: Client | null
  readonly #options: CountedOptions
  readonly #agents = new Map<string, ReturnType<typeof shown>>()
  /** Ids of agents that components stopped showing, the latest last. Some may be shown again. */
  readonly #left = new Set<string>()

  constructor(client: Client | null, options: CountedOptions = {}) {
    this.#client = client
    this.#options = options
    this.roster = new Shown(nobody, (show) => (client === null ? () => {} : followRoster(client, show)), options)
    this.waiting = new Shown(
      nothingWaits,
      (show) =>
        client === null ? () => {} : client.watchWaiting(({ waiting: all }) => show(all), { limit: mostWaiting }),
      options,
    )
    this.connection = new Shown(
      connecting,
      (show) => (client === null ? () => {} : followConnection(client, show)),
      options,
    )
  }

  /** @throws RuntimeError `INVALID_OPTION`: the provider has none. */
  get client(): Client {
    if (this.#client !== null) return this.#client
    throw new RuntimeError(
      'INVALID_OPTION',
      'The AgentProvider has no client, as on a server, so its agents take no commands.',
    )
  }

  agent(id: string): ReturnType<typeof shown> {
    const known = this.#agents.get(id)
    if (known !== undefined) return known
    const client = this.#client
    const store = new AgentStore(client?.agent(id) ?? waiting(id), {
      ...this.#options,
      onClose: () => this.#leave(id),
    })
    const agent = shown(store, () => this.client.agent(id))
    this.#agents.set(id, agent)
    return agent
  }

  /**
   * Notes that no component shows an agent any more, and drops the agents left longest ago: a page that is open for
   * months shows many agents.
   */
  #leave(id: string): void {
    this.#left.delete(id)
    this.#left.add(id)
    if (this.#left.size <= mostLeft) return
    const oldest = this.#left.values().next().value!
    this.#left.delete(oldest)
    if (this.#agents.get(oldest)?.store.isOpen === false) this.#agents.delete(oldest)
  }

  async spawn(id: string, definition: string, options: Omit<RemoteSpawnOptions, 'id'>): Promise<void> {
    await this.client.spawn(definition, { ...options, id })
  }
}

function followRoster(client: Client, show: (agents: readonly AgentSummary[]) => void): () => void {
  const known = new Map<string, AgentSummary>()
  return client.watch(({ agents, gone }) => {
    for (const id of gone) known.delete(id)
    for (const agent of agents) known.set(agent.agentId, agent)
    show([...known.values()])
  })
}

function followConnection(client: Client, show: (facts: ConnectionFacts) => void): () => void {
  let error: ErrorInfo | undefined
  let isOver = false
  const look = (): void => {
    if (isOver) return
    const { status, retryAt, role, definitions } = client
    show({
      status,
      definitions,
      ...(retryAt === undefined ? {} : { retryAt }),
      ...(role === undefined ? {} : { role }),
      ...(error === undefined ? {} : { error }),
    })
  }
  const failed = (info: ErrorInfo): void => {
    error = info
    look()
  }
  const ends = [
    client.onStatus((status) => {
      if (status === 'open') error = undefined
      look()
    }),
    client.onError(failed),
  ]
  // Why it was closed, if it was before the first welcome.
  client.ready.catch((thrown: unknown) => failed(toErrorInfo(thrown, 'INTERNAL')))
  look()
  return () => {
    isOver = true
    for (const end of ends) end()
  }
}
