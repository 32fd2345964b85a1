import { createActor, fromPromise, waitFor, type ActorRefFrom, type SnapshotFrom } from 'xstate'
import type { AgentPorts } from '../../../../src/actors/agentPorts.ts'
import { BoundCall } from '../../../../src/actors/tools/boundCall.ts'
import type { AnyTool, Tool, ToolContext } from '../../../../src/actors/tools/defineTool.ts'
import type { InnerCalls } from '../../../../src/actors/tools/innerCalls.ts'
import type { SourceHost, SourceStatus, ToolConnection } from '../../../../src/actors/tools/toolSource.ts'
import type { SaidBlock } from '../../../../src/protocol/text/saidContent.ts'
import { messageOf } from '../../../../src/protocol/errors.ts'
import { pause, within } from '../../../../src/protocol/ports/pause.ts'
import { Apps } from './apps.ts'
import { callServer, type ServerCall } from './callServer.ts'
import { mcpConnectionMachine, type ConnectionEvent, type Lost, type Opened } from './connectionMachine.ts'
import { elicit, type AskingCall, type Elicited } from './elicitation.ts'
import { InputChecks } from './inputSchemas.ts'
import { listTools } from './listTools.ts'
import { isLost, isSessionGone } from './lostSession.ts'
import type { McpSettings } from './options.ts'
import { resourceTools } from './resourceTools.ts'
import { checkDepth, errorText, resultBlocks, type CallResult } from './resultBlocks.ts'
import { Server } from './server.ts'
import { reasonsOf, whyRefused } from './refusals.ts'
import { SignIn } from './signIn.ts'
import type { ServerSecrets } from './serverSecrets.ts'
import { printOf } from './toolPrint.ts'
import { taskOf } from './relatedTask.ts'
import { TaskCall } from './taskCall.ts'
import { isWanted, toolsOf } from './toolsOf.ts'

type Machine = typeof mcpConnectionMachine
type Snapshot = SnapshotFrom<Machine>

/** Time to wait for the exit status of a failed server, in milliseconds. */
const endMs = 200
/** Maximum wait of a turn for a changed list, in milliseconds. */
const listMs = 2_000
/** Interval between fetches of the list from a server that announces a change with each list, in milliseconds. */
const restMs = 5_000

const stateOf = (snapshot: Snapshot): SourceStatus['state'] => {
  const { value } = snapshot
  if (typeof value !== 'string') return 'up'
  return value === 'backoff' ? 'waiting' : value === 'closing' ? 'closed' : value
}

/** Connects one runtime to one server. */
export class McpConnection implements ToolConnection {
  #tools: readonly Tool[] = []
  #instructions: string | undefined
  readonly #settings: McpSettings
  readonly #host: SourceHost
  readonly #secrets: ServerSecrets
  readonly #checks = new InputChecks()
  readonly #apps = new Apps((message) => this.#debug(message))
  readonly #actor: ActorRefFrom<Machine>
  /** Calls in progress. A server with a protocol before 2026-07-28 asks without naming the call. */
  readonly #calls = new Set<AskingCall>()
  #server: Server | undefined
  /** Servers that are ending, and attempts to reach one. */
  readonly #ending = new Set<Promise<unknown>>()
  #listTrouble: readonly string[] = []
  #state: SourceStatus['state'] = 'idle'
  #since: number
  readonly #signIn: SignIn

  constructor(settings: McpSettings, host: SourceHost, secrets: ServerSecrets) {
    this.#settings = settings
    this.#host = host
    this.#secrets = secrets
    const now = (): number => host.clock.now()
    this.#since = now()
    this.#signIn = new SignIn(settings.auth, {
      signedIn: () => this.#send({ type: 'signed.in' }),
      debug: this.#debug,
    })
    const machine = mcpConnectionMachine.provide({
      actors: {
        open: fromPromise<Opened>(({ signal }) => this.#ends(this.#open(signal))),
        watch: fromPromise<Lost>(() => this.#watch()),
        list: fromPromise<void>(({ signal }) => this.#list(signal)),
        sleep: fromPromise<void, { readonly until: number }>(({ input, signal }) =>
          pause(Math.max(0, input.until - now()), host.clock, signal),
        ),
        rest: fromPromise<void>(({ signal }) => pause(restMs, host.clock, signal)),
        shut: fromPromise<void>(() => this.#shut()),
      },
    })
    this.#actor = createActor(machine, { input: { restart: settings.restart } })
    this.#actor.subscribe((snapshot) => this.#moved(snapshot))
    this.#actor.start()
  }

  get tools(): readonly AnyTool[] {
    return this.#tools
  }

  get instructions(): string | undefined {
    return this.#instructions
  }

  get trouble(): string | undefined {
    const why = this.#why
    const all = [...(why === undefined ? [] : [why]), ...this.#listTrouble]
    if (all.length === 0) return undefined
    const more = all.length > mostTroubles ? [`and ${all.length - mostTroubles} more`] : []
    return [...all.slice(0, mostTroubles), ...more].join('; ')
  }

  /** Reason why the connection is not open. */
  get #why(): string | undefined {
    return this.#actor.getSnapshot().context.why ?? undefined
  }

  status(): SourceStatus {
    const { trouble } = this
    return { state: this.#state, since: this.#since, ...(trouble === undefined ? {} : { trouble }) }
  }

  async ready(signal: AbortSignal): Promise<void> {
    if (this.#actor.getSnapshot().context.needsSignIn) await this.#signIn.look()
    this.#want()
    // Later attempts hold up no turn: the tools are those that it had.
    const isFirst = (snapshot: Snapshot): boolean => snapshot.matches('opening') && snapshot.context.attempts === 0
    await this.#until((snapshot) => !isFirst(snapshot), signal, this.#settings.connectMs + listMs)
    await this.#until((snapshot) => !snapshot.matches({ up: 'listing' }), signal, listMs)
  }

  async close(): Promise<void> {
    const signIn = this.#signIn.close()
    this.#send({ type: 'close' })
    await waitFor(this.#actor, ({ status }) => status === 'done')
    await signIn
  }

  #send(event: ConnectionEvent): void {
    // XState warns of events for an actor that has ended.
    if (this.#actor.getSnapshot().status === 'active') this.#actor.send(event)
  }

  #want(): void {
    this.#send({ type: 'wanted', at: this.#host.clock.now(), isSignInOver: this.#signIn.isOver })
  }

  #moved(snapshot: Snapshot): void {
    const state = stateOf(snapshot)
    if (state === this.#state) return
    this.#state = state
    this.#since = this.#host.clock.now()
    const { why } = snapshot.context
    const { logger } = this.#host
    if (logger === undefined) return
    const fields = { source: this.#settings.name, state }
    if (why !== null && (state === 'waiting' || state === 'failed')) logger.warn(fields, `MCP server lost: ${why}`)
    else logger.debug(fields, `MCP server is ${state}`)
  }

  /** Resolves once `isDone` holds, `ms` milliseconds have passed, or `signal` is aborted. */
  #until(isDone: (snapshot: Snapshot) => boolean, signal: AbortSignal, ms: number): Promise<void> {
    if (signal.aborted || isDone(this.#actor.getSnapshot())) return Promise.resolve()
    return new Promise((resolve) => {
      const finish = (): void => {
        cancel()
        subscription.unsubscribe()
        signal.removeEventListener('abort', finish)
        resolve()
      }
      const cancel = this.#host.clock.after(ms, finish)
      const subscription = this.#actor.subscribe({
        next: (snapshot) => {
          if (isDone(snapshot)) finish()
        },
        complete: finish,
      })
      signal.addEventListener('abort', finish)
    })
  }

  #ends<T>(work: Promise<T>): Promise<T> {
    const ended = work.catch(() => {}).finally(() => this.#ending.delete(ended))
    this.#ending.add(ended)
    return work
  }

  readonly #clean = <T>(value: T): T => this.#secrets.clean(value)

  readonly #debug = (message: string): void =>
    this.#host.logger?.debug({ source: this.#settings.name }, this.#secrets.clean(`MCP server: ${message}`))

  async #open(signal: AbortSignal): Promise<Opened> {
    const { clock } = this.#host
    // One after the other: a server may hold a file or a port.
    await this.#server?.close()
    let server: Server | undefined
    try {
      const sdk = await import('@modelcontextprotocol/client')
      server = new Server(sdk, this.#settings, {
        clock,
        secrets: this.#secrets,
        debug: this.#debug,
        listChanged: () => this.#send({ type: 'list.changed' }),
        elicit: (request, asked) => this.#elicitFor(request, asked),
        told: (method, params) =>
          [...this.#calls].some((call) => call instanceof TaskCall && call.told(method, params)),
      })
      this.#server = server
      await server.connect(signal)
      await this.#take(server, signal)
      return { type: 'up' }
    } catch (thrown) {
      if (server !== undefined) {
        this.#noticeRefusal(thrown, server)
        // How it ended may be why; no turn waits longer for that.
        await within(clock, endMs, this.#ends(server.close()))
      }
      return whyRefused(thrown, this.#settings, server, clock.now(), this.#clean)
    }
  }

  async #watch(): Promise<Lost> {
    const why = await this.#server!.lost
    void this.#ends(this.#server!.close())
    return { at: this.#host.clock.now(), why: this.#secrets.clean(why) }
  }

  /** Fetches the list. If that fails, the tools stay unchanged. */
  async #list(signal: AbortSignal): Promise<void> {
    await this.#take(this.#server!, signal).catch((thrown: unknown) => {
      this.#listTrouble = [`its tools changed, and cannot be listed: ${this.#secrets.clean(messageOf(thrown))}`]
    })
  }

  /** Takes over the tools of the server's current list. An unchanged list keeps the same array. */
  async #take(server: Server, signal: AbortSignal): Promise<void> {
    const settings = this.#settings
    const request = { signal, timeout: settings.connectMs }
    const listed = await listTools(server.client, request, this.#clean, (name) => isWanted(settings, name))
    const made = await toolsOf(listed.tools, settings, this.#checks, {
      now: (call, context) => this.#call(call, context),
      asTask: (call, context) => this.#callAsTask(call, context),
    })
    const others = resourceTools(server, settings, (context, use) => this.#using(context, use))
    signal.throwIfAborted()
    this.#listTrouble = [...listed.trouble, ...made.trouble]
    if (settings.instructions === true) this.#instructions = this.#secrets.clean(server.client.getInstructions())
    const all = [...made.tools, ...others]
    if (!isSame(all, this.#tools)) this.#tools = all
  }

  async #shut(): Promise<void> {
    if (this.#server !== undefined) void this.#ends(this.#server.close())
    while (this.#ending.size > 0) await Promise.all(this.#ending)
  }

  /**
   * Returns an open server, or throws an error with the reason why there is none. A call may wait
   * for a restart, and begins one for a connection that was given up.
   */
  async #up(signal: AbortSignal): Promise<Server> {
    if (this.#signIn.isWaiting) throw this.#signInFirst()
    this.#want()
    const { attempts } = this.#actor.getSnapshot().context
    const isUp = (snapshot: Snapshot): boolean => snapshot.matches('up') && this.#server?.isGone === false
    const isSettled = (snapshot: Snapshot): boolean =>
      isUp(snapshot) || snapshot.matches('failed') || snapshot.context.attempts > attempts
    await this.#until(isSettled, signal, this.#settings.connectMs + listMs)
    signal.throwIfAborted()
    if (isUp(this.#actor.getSnapshot())) return this.#server!
    throw new Error(`The MCP server "${this.#settings.name}" is not there: ${this.#why ?? 'it takes long to start'}.`)
  }

  async #call(call: ServerCall, context: ToolContext): Promise<readonly SaidBlock[]> {
    const { name, elicitation } = this.#settings
    const asking: AskingCall = { ask: context.ask, signal: context.signal }
    const ask = (request: unknown): Promise<Elicited> =>
      elicitation ? elicit(name, request, asking, this.#debug) : Promise.resolve({ action: 'decline' })
    const result = await this.#using(context, async (server) => {
      this.#calls.add(asking)
      try {
        return await callServer(server, call, context, ask, () => this.#host.clock.now())
      } finally {
        this.#calls.delete(asking)
      }
    })
    return this.#blocksOf(call, result, context)
  }

  #callAsTask(call: ServerCall, context: ToolContext): BoundCall<AgentPorts> {
    return new BoundCall(async ({ parts, clock }: AgentPorts, _, calls) => {
      const task = new TaskCall(call, {
        server: this.#settings.name,
        clock,
        context,
        calls: callsIn(calls),
        known: parts.remote?.[context.callId]?.handle,
        using: (use, work) => this.#using(use, work),
        clean: this.#clean,
      })
      this.#calls.add(task)
      try {
        return await this.#blocksOf(call, await task.run(), context)
      } finally {
        this.#calls.delete(task)
      }
    })
  }

  /** Returns the blocks of a result. Rejects with the result's text if it is an error. */
  async #blocksOf(call: ServerCall, result: CallResult, context: ToolContext): Promise<readonly SaidBlock[]> {
    const clean = this.#secrets.clean(checkDepth(result))
    if (clean.isError === true) throw new Error(errorText(clean))
    const { app: uri, name: tool } = call
    const { name } = this.#settings
    if (uri !== undefined) await this.#apps.give(this.#server!, { uri, tool, name }, clean, context)
    return resultBlocks(clean)
  }

  /** Asks people on behalf of the call whose task the server names, else of the only running call. Several calls are ambiguous. */
  async #elicitFor(request: unknown, asked: AbortSignal): Promise<Elicited> {
    const task = taskOf(request)
    const [call, other] = [...this.#calls].filter(({ taskId }) => task === undefined || taskId === task)
    if (call === undefined || other !== undefined) {
      this.#debug(`it asked people something while ${this.#calls.size} calls were under way: declined`)
      return { action: 'decline' }
    }
    if (asked.aborted) return { action: 'cancel' }
    return elicit(this.#settings.name, request, call, this.#debug)
  }

  async #using<T>(
    { signal }: Pick<ToolContext, 'signal'>,
    use: (server: Server, options: { readonly signal: AbortSignal; readonly timeout: number }) => Promise<T>,
  ): Promise<T> {
    const options = { signal, timeout: 2 ** 31 - 1 }
    const server = await this.#up(signal)
    try {
      return await use(server, options)
    } catch (thrown) {
      if (signal.aborted) throw signal.reason
      if (!isSessionGone(thrown, server)) {
        const why = this.#inWords(thrown, server)
        // It may have done what it was asked for: that is not asked for again.
        if (await isLost(thrown, server, signal)) server.giveUp('it answers nothing in this session any more')
        throw why
      }
      // Refused before anything was done: a server that was started again does not know the session.
      server.giveUp('it no longer knows the session')
    }
    const fresh = await this.#up(signal)
    return use(fresh, options).catch((thrown: unknown) => {
      throw signal.aborted ? signal.reason : this.#inWords(thrown, fresh)
    })
  }

  #noticeRefusal(thrown: unknown, server: Server): boolean {
    const isRefused = server.sdk.UnauthorizedError.isInstance(thrown)
    if (isRefused) this.#signIn.wait(server)
    return isRefused
  }

  #signInFirst(): Error {
    return new Error(`The MCP server "${this.#settings.name}" wants a person to sign in: the person was asked to.`)
  }

  /** Converts an error of the SDK to text for a model. */
  #inWords(thrown: unknown, server: Server): Error {
    const { name } = this.#settings
    const { sdk } = server
    if (this.#noticeRefusal(thrown, server)) return this.#signInFirst()
    const text = reasonsOf(thrown, this.#clean)
    if (sdk.SdkError.isInstance(thrown) && thrown.code === sdk.SdkErrorCode.ConnectionClosed) {
      const why = server.end ?? 'the connection was lost'
      return new Error(
        `The MCP server "${name}" ended in the middle of the call: ${why}. Whether it took effect is not known.`,
      )
    }
    return new Error(`The MCP server "${name}" failed: ${text}`)
  }
}

/** Returns the object with which a call makes records; `undefined` for a call made by another call, which has no records of its own. */
function callsIn(calls: () => InnerCalls): InnerCalls | undefined {
  try {
    return calls()
  } catch {
    return undefined
  }
}

/** Maximum number of reported troubles; a server could have a thousand. */
const mostTroubles = 8

/** Returns true if models and people would see no difference between the lists. The order does not count: the agent decides it. */
function isSame(now: readonly Tool[], before: readonly Tool[]): boolean {
  if (now.length !== before.length) return false
  const prints = new Set(before.map(printOf))
  return now.every((tool) => prints.has(printOf(tool)))
}
