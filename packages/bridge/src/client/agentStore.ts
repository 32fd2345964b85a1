import { toErrorInfo, type ErrorInfo } from '../../../../src/protocol/errors.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import type { PauseReason } from '../../../../src/protocol/records.ts'
import { callAll, Counted, type CountedOptions } from './counted.ts'
import { emptyChat, type Chat, type ChatPending } from './fold/chat.ts'
import { foldMessages } from './fold/foldMessages.ts'
import { pendingOf } from './fold/foldPending.ts'
import { foldRun, type RunView } from './fold/foldRun.ts'
import { foldAppState, noAppState, toldAppState, type AppState } from './fold/foldAppState.ts'
import { foldState, type LiveState } from './fold/foldState.ts'
import type { RemoteAgent } from './remoteAgent.ts'

/** An agent that a store can follow. */
export type Followed = Pick<RemoteAgent, 'id' | 'subscribe' | 'snapshot'>

/**
 * Status of a followed agent. `loading`: its log is being read. `failed`: it cannot be followed, and `error` has the reason. `paused`: its run can be
 * resumed.
 */
export type AgentStatus = 'loading' | Chat['status'] | 'failed'

/** View of a followed agent. It is frozen; unchanged parts stay the same objects. */
export interface AgentView {
  /** State of the agent. */
  readonly facts: {
    readonly id: string
    readonly status: AgentStatus
    /** Path of the chart's active state, such as `replying.streaming`; `closed` if the agent is stored but not running. Empty while loading. */
    readonly state: string
    /** Reason for the pause. */
    readonly pause: PauseReason | null
    /** Reason why the agent cannot be followed, or why its last run failed. */
    readonly error?: ErrorInfo
  }
  readonly chat: Chat
  /** The current run, or the last one. */
  readonly run: RunView | null
  /** The agent's application state; `null` without one, and for clients that may not see it. */
  readonly appState: AppState | null
}

interface StoreOptions extends CountedOptions {
  /** True to report errors of following to `client.onError` instead of in the view. Default `false`. */
  readonly reports?: boolean
  /** Called when the last follower of the agent has left. */
  readonly onClose?: () => void
}

/** Starts the agent if no agent has its id. */
export type Spawn = () => Promise<unknown>

/**
 * Follows an agent while it has listeners, from its first record on and across reconnects. Keeps its conversation, run and state, and
 * the calls and questions that wait for people. Listeners are called once for changes that arrived together.
 */
export class AgentStore {
  /** View before the first event; always the same object. */
  readonly initial: AgentView
  readonly #agent: Followed
  readonly #counted: Counted
  readonly #reports: boolean
  readonly #onClose: (() => void) | undefined
  readonly #listeners = new Set<() => void>()
  /** Number of the current subscription to the agent: answers to an earlier one are ignored. */
  #round = 0
  #end: (() => void) | undefined
  #spawn: Spawn | undefined
  #chat: Chat
  #run: RunView | null = null
  #live: LiveState = { state: '', pause: null }
  #appState = noAppState
  #error: ErrorInfo | undefined
  /** True once the log has been read, so that views do not show it growing from its beginning. */
  #isRead = false
  /** True once the server has sent the agent's state. */
  #isLoaded = false
  #view: AgentView
  #telling: Promise<void> | undefined

  constructor(agent: Followed, options: StoreOptions = {}) {
    this.#agent = agent
    this.#counted = new Counted(this, options)
    this.#reports = options.reports ?? false
    this.#onClose = options.onClose
    this.#chat = emptyChat(agent.id)
    this.#view = this.initial = initialView(agent.id)
  }

  /** Returns the current chat, also while the log is being read. */
  get chat(): Chat {
    return this.#chat
  }

  /** The view that was last reported to listeners. */
  get view(): AgentView {
    return this.#view
  }

  /**
   * Follows the agent from now on, and calls `listener` after changes. Returns a function that unsubscribes. A
   * missing agent is spawned if a listener gave `spawn`.
   */
  readonly subscribe = (listener: () => void, spawn?: Spawn): (() => void) => {
    const unlisten = this.listen(listener)
    this.#spawn ??= spawn
    if (this.#error?.code === 'AGENT_NOT_FOUND' && spawn !== undefined) this.retry()
    const leave = this.#counted.enter()
    return () => {
      unlisten()
      leave()
    }
  }

  /** Calls `listener` after changes, while others follow the agent. Returns a function that removes the listener. */
  listen(listener: () => void): () => void {
    const own = (): void => listener()
    this.#listeners.add(own)
    return () => void this.#listeners.delete(own)
  }

  /** True while the store follows the agent. */
  get isOpen(): boolean {
    return this.#end !== undefined
  }

  /** Follows the agent until it is closed, with or without listeners. Idempotent. */
  open(): void {
    if (this.#end !== undefined || this.#error !== undefined) return
    const round = ++this.#round
    const ifNow = (work: () => unknown): unknown => (round === this.#round ? work() : undefined)
    const listener = (event: AgentEvent): unknown => ifNow(() => this.#take(event))
    const follow = (): (() => void) =>
      this.#agent.subscribe(listener, {
        fromSeq: this.#chat.seq + 1,
        rereads: true,
        awaits: true,
        onCaughtUp: () => ifNow(() => this.#caughtUp(round)),
        ...(this.#reports ? {} : { onEnd: (error?: ErrorInfo) => ifNow(() => this.#ended(error)) }),
      })
    try {
      this.#end = follow()
    } catch {
      // While nobody listened the server lost some of what is known here.
      this.#chat = emptyChat(this.#agent.id)
      this.#appState = noAppState
      this.#end = follow()
    }
  }

  /** Asks the server for facts that no event carries, and for the newest application state. */
  refresh(): Promise<void> {
    return this.#refresh(this.#round)
  }

  /** Tries again after an error. */
  retry(): void {
    if (this.#error === undefined) return
    this.close()
    callAll(this.#listeners)
    this.open()
  }

  /** Stops following the agent. Idempotent. */
  close(): void {
    this.#round += 1
    this.#end?.()
    this.#end = undefined
    if (this.#error !== undefined) {
      this.#error = undefined
      this.#isLoaded = false
      this.#view = this.#nextView()
    }
    this.#onClose?.()
  }

  #take(event: AgentEvent): Promise<void> | undefined {
    const isOwn = event.agentId === this.#agent.id
    const chat = foldMessages(this.#chat, event)
    const run = isOwn ? foldRun(this.#run, event) : this.#run
    const live = isOwn && this.#isLoaded ? foldState(this.#live, event) : this.#live
    const appState = isOwn ? foldAppState(this.#appState, event) : this.#appState
    const isSame = chat === this.#chat && run === this.#run && live === this.#live
    if (isSame && appState === this.#appState) return undefined
    this.#appState = appState
    this.#chat = chat
    this.#run = run
    this.#live = live
    return this.#tellSoon()
  }

  async #caughtUp(round: number): Promise<void> {
    this.#isRead = true
    // It was not there, and now it is.
    if (this.#error?.code === 'AGENT_NOT_FOUND') this.#error = undefined
    await Promise.all([this.#tellSoon(), this.#refresh(round)])
  }

  /** Asks the server for facts that a log does not have: whether the agent runs, and its descendants' calls and questions that wait for people. */
  async #refresh(round: number): Promise<void> {
    const answer = await this.#agent.snapshot().catch((thrown: unknown) => toErrorInfo(thrown, 'INTERNAL'))
    if (round !== this.#round) return
    if ('code' in answer) return this.#ended(answer)
    this.#live = { state: answer.state, pause: answer.pause }
    this.#appState = toldAppState(this.#appState, answer.appState)
    const pending = pendingOf(answer)
    if (!isSame(pending, this.#chat.pending)) this.#chat = { ...this.#chat, pending }
    this.#isLoaded = true
    await this.#tellSoon()
  }

  /** Handles the end of the events, after the agent was stopped or an error occurred. */
  #ended(error?: ErrorInfo): Promise<void> {
    const spawn = this.#spawn
    this.#spawn = undefined
    if (error?.code === 'AGENT_NOT_FOUND' && spawn !== undefined) return this.#begin(spawn, this.#round)
    this.#error = error
    this.#isRead = this.#isLoaded = true
    return this.#tellSoon()
  }

  async #begin(spawn: Spawn, round: number): Promise<void> {
    this.#end?.()
    const error = await spawn().then(
      () => undefined,
      (thrown: unknown) => toErrorInfo(thrown, 'INTERNAL'),
    )
    if (round !== this.#round) return
    // Somebody else was faster; or it is not for us, as trying again will tell.
    if (error !== undefined && error.code !== 'AGENT_EXISTS') return this.#ended(error)
    this.#end = undefined
    this.open()
  }

  #nextView(): AgentView {
    const before = this.#view
    const facts = this.#isLoaded ? this.#facts() : this.initial.facts
    return Object.freeze({
      facts: isEqual(facts, before.facts) ? before.facts : Object.freeze(facts),
      chat: this.#isRead ? this.#chat : before.chat,
      run: this.#isRead ? this.#run : before.run,
      appState: this.#isLoaded ? (this.#appState.known ?? null) : before.appState,
    })
  }

  #facts(): AgentView['facts'] {
    const { id } = this.#agent
    const { status: said, pause: paused, error: failed } = this.#chat
    const error = this.#error ?? failed
    const { state, pause = paused ?? null } = said === 'stopped' ? { state: 'stopped' } : this.#live
    // Its process died in the middle of the run.
    const isLeft = said === 'running' && state === 'closed'
    const status = this.#error === undefined ? (isLeft ? 'paused' : said) : 'failed'
    return { id, status, state, pause, ...(error === undefined ? {} : { error }) }
  }

  #tellSoon(): Promise<void> {
    return (this.#telling ??= Promise.resolve().then(() => this.#tell()))
  }

  #tell(): void {
    this.#telling = undefined
    const next = this.#nextView()
    const { facts, chat, run, appState } = this.#view
    if (next.facts === facts && next.chat === chat && next.run === run && next.appState === appState) return
    this.#view = next
    // What one throws the client reports, as of any listener.
    callAll(this.#listeners)
  }
}

function initialView(id: string): AgentView {
  const facts: AgentView['facts'] = Object.freeze({ id, status: 'loading', state: '', pause: null })
  return Object.freeze({ facts, chat: emptyChat(id), run: null, appState: null })
}

const isEqual = (a: AgentView['facts'], b: AgentView['facts']): boolean =>
  a.status === b.status && a.state === b.state && a.pause === b.pause && a.error === b.error

/** Returns true if both lists have the same keys in the same order. */
const isSame = (a: readonly ChatPending[], b: readonly ChatPending[]): boolean =>
  a.length === b.length && a.every(({ key }, index) => key === b[index]!.key)
