import { abortFields, type AbortOptions } from '../../../../src/protocol/bridge/abortOptions.ts'
import { callbackBugs } from '../../../../src/protocol/callbackBugs.ts'
import type { z } from 'zod'
import type {
  AgentCommand,
  CompactOptions,
  DecideOptions,
  Decision,
  PruneOptions,
  RunOptions,
  SayOptions,
  RevertCommandOptions,
} from '../../../../src/protocol/bridge/commands.ts'
import { asFrame, decided, given, stepsIn } from '../../../../src/protocol/bridge/commandRules.ts'
import type { UseChange } from '../../../../src/protocol/bridge/turns.ts'
import type { Content } from '../../../../src/protocol/text/saidContent.ts'
import { RuntimeError, toErrorInfo } from '../../../../src/protocol/errors.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import { EventBuffer } from '../../../../src/protocol/runs/eventBuffer.ts'
import { endWith, neverRun, signalIn, type Run } from '../../../../src/protocol/runs/run.ts'
import { commandAnswerShape, infoOf, type CommandAnswer } from './answers.ts'
import { checkCommand } from './commandShapes.ts'
import { CallAnswers, type CallFunction, type ClientCall } from './callAnswers.ts'
import { forRuns, type ListenerOptions } from './feedListener.ts'
import type { Own, RemoteListenOptions, RemoteSubscribeOptions } from './subscribeOptions.ts'
import type { Asked, Asking } from './outgoing.ts'
import type { FeedOwner, RemoteFeed } from './remoteFeed.ts'
import { RemoteParts } from './remoteParts.ts'
import { RemoteRuns } from './remoteRuns.ts'

/** Functions of the client that its agents use. */
export interface AgentOwner extends FeedOwner {
  /** Prefix of the ids of the client's requests. */
  readonly sessionMark: string
  /** Returns the number of the next command. */
  nextNumber(): number
  /** Sends a command, and repeats it after a reconnect. With `isKept` it is repeated until it is released. */
  send(asking: Asking, isKept: boolean): void
  release(number: number): void
  /** Calls `call` once an agent with this id runs. Returns a function that cancels the call. */
  onceThere(agentId: string, call: () => void): () => void
}

/**
 * An agent on a server, with the same methods as a local one. Apart from bad arguments, errors that a local agent throws are rejected promises
 * here, which may be ignored. Commands are executed once and in order, even across reconnects.
 */
export class RemoteAgent<
  out Output = unknown,
  out Event extends AgentEvent = AgentEvent,
  out State = unknown,
> extends RemoteParts<State> {
  readonly id: string
  readonly #owner: AgentOwner
  readonly #feed: RemoteFeed
  readonly #runs: RemoteRuns
  /** Numbers of the commands whose runs have not ended, by request id. */
  readonly #numbers = new Map<string, number>()
  #stopListening: (() => void) | undefined
  #isChecking = false
  #calls: CallAnswers | undefined

  /** Called by `client.agent` and `client.spawn`. */
  constructor(id: string, owner: AgentOwner, feed: RemoteFeed) {
    super()
    this.id = id
    this.#owner = owner
    this.#feed = feed
    this.#runs = new RemoteRuns((requestId) => this.#runEnded(requestId))
  }

  /** `seq` of the last received record, while the agent has listeners or awaited runs. */
  get lastSeq(): number | undefined {
    return this.#feed.lastSeq
  }

  /**
   * Starts a run. A busy agent runs it after earlier ones. If the server refuses it, the run's result has the error.
   * @throws RuntimeError `INVALID_CONTENT`, `INVALID_OPTION`, before anything is sent
   */
  prompt(content: Content, options: RunOptions = {}): Run<Output, Event> {
    return this.#start({ type: 'agent.prompt', agentId: this.id, content }, options)
  }

  /** Aborts the current run and prompts, ahead of waiting prompts. Otherwise like `prompt`. */
  interrupt(content: Content, options: RunOptions = {}): Run<Output, Event> {
    return this.#start({ type: 'agent.interrupt', agentId: this.id, content }, options)
  }

  /** Continues after a pause, or after a run that ended with `error`, as a new run. Otherwise like `prompt`. */
  resume(options: RunOptions = {}): Run<Output | undefined, Event> {
    return this.#start({ type: 'agent.resume', agentId: this.id }, options)
  }

  /** Sends a message into the current run. Throws as `prompt` does; rejects with `QUEUE_FULL`, `AGENT_STOPPED`, `AGENT_PAUSED`. */
  steer(content: Content, options: SayOptions = {}): Promise<void> {
    return this.send({ type: 'agent.steer', agentId: this.id, content, ...given(options) })
  }

  /** Sends a message that is delivered when the current run would otherwise end. Otherwise like `steer`. */
  followUp(content: Content, options: SayOptions = {}): Promise<void> {
    return this.send({ type: 'agent.followUp', agentId: this.id, content, ...given(options) })
  }

  /** Ends the current run and background calls: all of them, or those selected by `background`. */
  abort(options?: AbortOptions): Promise<void> {
    return this.send({ type: 'agent.abort', agentId: this.id, ...abortFields(options) })
  }

  /** Decides a waiting call or question by its `key`, as `decide` of a local agent does. Rejects with `CALL_NOT_PENDING`, `ANSWER_INVALID`. */
  decide(key: string, decision: Decision, how?: string | DecideOptions): Promise<void> {
    const command = { type: 'agent.decide', agentId: this.id, callId: key, ...decided(decision, how) }
    return this.send(command as AgentCommand)
  }

  /**
   * Carries out the calls of a tool without `run`, for this agent and its descendants: waiting calls, and later ones until the returned function is
   * called. The value that `carryOut` returns is the result. An error that it throws goes to the model. Of several clients, the first to answer
   * counts, and the others' signals are aborted. `Input` is the type that the tool's schema takes.
   *
   * @throws RuntimeError `INVALID_OPTION`: it is no function, or there is one for the name.
   */
  onCall<Input = unknown>(name: string, carryOut: (input: Input, call: ClientCall) => unknown): () => void {
    this.#calls ??= new CallAnswers({
      subscribe: (listener) => this.subscribe(listener, { deltas: false }),
      snapshot: () => this.snapshot(),
      decide: (key, decision) => this.decide(key, decision),
      report: (error) => this.#owner.report(error),
    })
    return this.#calls.add(name, carryOut as CallFunction)
  }

  /** Requests a revert to a step, such as `n12`; with `undo`, `undo.end` reports the outcome of the undo. */
  revert(step: string, options: RevertCommandOptions): Promise<void> {
    return this.send({ type: 'agent.revert', agentId: this.id, step, ...given(options ?? {}) } as AgentCommand)
  }

  /** Hides steps from the model, or the oldest ones until `tokens` are hidden. With `mask`, only the contents of their results are hidden. */
  prune(options: PruneOptions): Promise<void> {
    return this.send({ type: 'agent.prune', agentId: this.id, ...given(options ?? {}) })
  }

  /** Folds every step that may be folded. Rejects with `BRAKING_OFF`. */
  fold(): Promise<void> {
    return this.send({ type: 'agent.fold', agentId: this.id })
  }

  /** Runs a policy of `braking.policies` by name, regardless of its trigger. Rejects with `BRAKING_OFF`, `POLICY_NOT_FOUND`. */
  brake(policy: string): Promise<void> {
    return this.send({ type: 'agent.brake', agentId: this.id, policy })
  }

  /** Replaces the middle of the conversation by a summary. */
  compact(options: CompactOptions = {}): Promise<void> {
    return this.send({ type: 'agent.compact', agentId: this.id, ...given(options ?? {}) })
  }

  /** Copies steps of an abandoned branch to the end of the trunk. A `graft.applied` event reports the outcome. */
  graft(steps: string | readonly string[]): Promise<void> {
    return this.send({ type: 'agent.graft', agentId: this.id, steps: stepsIn(steps) })
  }

  /**
   * Sets options of the agent from its next turn on; `null` resets them. Works as `use` of a local agent, but a
   * model is one of the definition's `models`, by name. Rejects with `INVALID_OPTION`, `MODEL_NOT_FOUND`.
   */
  use(use: UseChange | null): Promise<void> {
    return this.send({ type: 'agent.use', agentId: this.id, use })
  }

  /** Keeps a step, such as `n12`, visible to the model. A `pin.applied` event reports the outcome. */
  pin(step: string): Promise<void> {
    return this.send({ type: 'agent.pin', agentId: this.id, step })
  }

  /** Removes the pin of a step. Otherwise as `pin`. */
  unpin(step: string): Promise<void> {
    return this.send({ type: 'agent.unpin', agentId: this.id, step })
  }

  /** Ends the agent for good; resolves once its log is written. */
  stop(): Promise<void> {
    return this.send({ type: 'agent.stop', agentId: this.id })
  }

  /**
   * Calls `listener` with every event from now on, or from a record on. Returns a function that unsubscribes. Records
   * come without gaps or repeats, even across reconnects. Events that are not in the log are only sent live. A listener
   * that throws affects nothing else. `client.onError` receives its error, and a refusal by the server.
   * @throws RuntimeError `INVALID_OPTION`
   */
  subscribe(listener: (event: Event) => unknown, options?: Own<RemoteSubscribeOptions>): () => void
  subscribe(listener: (event: AgentEvent) => unknown, options: RemoteSubscribeOptions): () => void
  subscribe(listener: (event: never) => unknown, options: RemoteSubscribeOptions = {}): () => void {
    if (typeof listener !== 'function') {
      throw new RuntimeError('INVALID_OPTION', `subscribe takes a function, not ${typeof listener}.`)
    }
    const report = (thrown: unknown): void => {
      callbackBugs.tell('A listener', thrown)
      this.#owner.report(toErrorInfo(thrown, 'SUBSCRIBER_FAILED'))
    }
    const call = <T>(told: (value: T) => unknown, value: T): void => {
      try {
        const returned = told(value)
        if (returned instanceof Promise) returned.catch(report)
      } catch (thrown) {
        report(thrown)
      }
    }
    const { onCaughtUp, onEnd = (error) => error !== undefined && this.#owner.report(error) } = options
    // Once for each time that it is heard: a roster may have what cannot be followed.
    let mayWait = options.awaits === true
    let leave = (): void => {}
    const follow = (): void => {
      leave = this.#addListener(
        {
          onEvent: (event) => call(listener as (event: AgentEvent) => unknown, event),
          onEnd(error) {
            call(onEnd, error === undefined ? undefined : infoOf(error))
            if (mayWait && error?.code === 'AGENT_NOT_FOUND') wait()
          },
          onCaughtUp() {
            mayWait = options.awaits === true
            if (onCaughtUp !== undefined) call(onCaughtUp, undefined)
          },
        },
        options,
      )
    }
    const wait = (): void => {
      mayWait = false
      leave = this.#owner.onceThere(this.id, follow)
    }
    follow()
    return () => {
      mayWait = false
      leave()
    }
  }

  /** Returns every event from now on, or from a record on, as an async iterable with a bounded buffer. Leaving the loop ends it. */
  events(options?: Own<RemoteListenOptions>): AsyncIterableIterator<Event>
  events(options: RemoteListenOptions): AsyncIterableIterator<AgentEvent>
  events(options: RemoteListenOptions = {}): AsyncIterableIterator<AgentEvent> {
    const buffer: EventBuffer = new EventBuffer(() => unsubscribe())
    const unsubscribe = this.#addListener(
      {
        onEvent: (event) => buffer.push(event),
        onEnd: (error) => {
          buffer.close()
          if (error !== undefined) this.#owner.report(infoOf(error))
        },
      },
      options,
    )
    return buffer
  }

  protected ask(frame: Asked): Promise<unknown> {
    return this.#owner.ask(frame)
  }

  #addListener(
    heard: Pick<ListenerOptions, 'onEvent' | 'onCaughtUp' | 'onEnd'>,
    {
      fromSeq,
      deltas = true,
      descendants = false,
      requests = false,
      captured = true,
      rereads = false,
    }: RemoteSubscribeOptions,
  ): () => void {
    if (fromSeq !== undefined && (!Number.isInteger(fromSeq) || fromSeq < 1)) {
      throw new RuntimeError('INVALID_OPTION', `fromSeq is ${fromSeq}, but records are numbered from 1.`)
    }
    const cursor = fromSeq === undefined ? undefined : fromSeq - 1
    return this.#feed.add({ cursor, deltas, descendants, requests, captured, rereads, ...heard })
  }

  /** Sets the schema that checks answers from now on. */
  checkOutput(output: z.ZodType): void {
    this.#runs.output = output
  }

  #start(said: AgentCommand, how: RunOptions): Run<never, never> {
    const { options, signal } = signalIn(how)
    const command = { ...said, ...given(options) }
    checkCommand(command)
    if (signal?.aborted === true) return neverRun() as Run<never, never>
    const end = (run: string): void => void this.send({ type: 'agent.abort', agentId: this.id, run })
    return endWith(this.#begin(command), signal, end) as Run<never, never>
  }

  #begin(command: AgentCommand): Run {
    const number = this.#owner.nextNumber()
    const requestId = `${this.#owner.sessionMark}/c${number}`
    const run = this.#runs.expect(requestId)
    this.#numbers.set(requestId, number)
    this.#listen()
    const refused = (error: RuntimeError): void => this.#runs.cancel(requestId, 'error', infoOf(error))
    const answered = (result: unknown): void => {
      const { ended } = commandAnswerShape(result) === undefined ? (result as CommandAnswer) : {}
      if (ended !== undefined) this.#runs.cancel(requestId, ended.stopReason, ended.error)
    }
    const asking = { number, frame: asFrame(command) as Asked, answered, refused }
    this.#feed.whenOpen(() => this.#owner.send(asking, true), refused)
    return run
  }

  /** Listens to the agent while a run is awaited. */
  #listen(): void {
    this.#stopListening ??= this.#feed.add({
      ...forRuns,
      onEvent: (event) => this.#runs.take(event),
      onEnd: (error) => {
        this.#stopListening = undefined
        if (error === undefined) this.#runs.cancelAll('aborted')
        else this.#runs.cancelAll('error', infoOf(error))
      },
    })
  }

  /** Handles the notice that everything up to a record was sent. */
  caughtUp(seq: number): void {
    const isAll = this.#feed.caughtUp(seq)
    if (isAll && this.#calls !== undefined) void this.#calls.look()
    if (isAll && this.#runs.isInterrupted && !this.#isChecking) void this.#checkInterrupted()
  }

  /**
   * Checks if an interrupted run continues, which is known once the agent is awake. The run's command wakes the
   * agent and was sent again before this query, so events up to its answer settle the question.
   */
  async #checkInterrupted(): Promise<void> {
    this.#isChecking = true
    try {
      for (let seq = Infinity; this.#runs.isInterrupted && (this.#feed.lastSeq ?? Infinity) < seq;)
        seq = (await this.snapshot()).seq
    } catch {
      // Nobody can say.
    }
    this.#isChecking = false
    this.#runs.caughtUp()
  }

  #runEnded(requestId: string): void {
    this.#owner.release(this.#numbers.get(requestId)!)
    this.#numbers.delete(requestId)
    if (!this.#runs.isEmpty) return
    this.#stopListening?.()
    this.#stopListening = undefined
  }

  protected send(command: AgentCommand): Promise<void> {
    checkCommand(command)
    const number = this.#owner.nextNumber()
    const done = new Promise<void>((resolve, refused) => {
      const asking = { number, frame: asFrame(command) as Asked, answered: () => resolve(), refused }
      this.#feed.whenOpen(() => this.#owner.send(asking, false), refused)
    })
    // Whoever does not wait for it has nothing to catch.
    done.catch(() => {})
    return done
  }
}
