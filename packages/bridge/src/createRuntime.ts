import type { Client } from './client/client.ts'
import type { BridgeServer, ServeOptions } from './server/serveOptions.ts'
import type { InProcessOptions } from './inProcess/inProcessServer.ts'
import { hostingOf, type OfferedMachine } from '../../xstate/src/hosts/registry.ts'
import type { HostView } from '../../wire/src/hostView.ts'
import type { AgentRuntime } from '../../../src/runtime/agentRuntime.ts'
import { resumeAll, type ResumeAllOptions, type ResumedAll } from '../../waking/src/resumeAll.ts'
import { LocalRuntime } from '../../../src/runtime/runtime.ts'
import { startWaker, type WakeOptions, type Waker } from '../../waking/src/wake.ts'
import { checkOptions, type RuntimeOptions } from '../../runtime/src/runtimeOptions.ts'
import { runtimeSetup } from '../../runtime/src/runtimeSetup.ts'
import {
  inOrder,
  waitingAgent,
  WaitingList,
  type WaitingAgent,
  type WaitingOptions,
} from '../../waking/src/waitingList.ts'

/** Spawns agents, owns the resources they share, and can serve them over the network. */
export interface Runtime extends AgentRuntime {
  /**
   * Continues the work in the store that was unfinished when the last process ended: interrupted runs and waiting messages of agents without a
   * parent, and of their descendants. Calls that wait for people stay in the store until they are decided, and paused runs until they are resumed.
   * Call it when the application starts. An agent that cannot continue is left alone, and the answer has the reason.
   *
   * Reads the checkpoint of each log and the records since. Rejects with `RUNTIME_CLOSED`, `INVALID_OPTION`, and `STORE_READ_FAILED` when the
   * store cannot list its logs.
   *
   * @example
   * ```ts
   * const { resumed, left } = await runtime.resumeAll({ definitions: [coder] })
   * for (const { agentId, error } of left) console.error(agentId, error.message)
   * ```
   */
  resumeAll(options: ResumeAllOptions): Promise<ResumedAll>

  /**
   * Wakes the agents of the store whose schedules are due: opens each, lets it run, and closes it again. Any number of processes may
   * do so on one store: each time fires once. Live agents fire by themselves, here or elsewhere. An agent that cannot be woken is left
   * alone for an hour, and the `logger` gets the reason. The waker is closed with the runtime.
   *
   * @throws RuntimeError `INVALID_OPTION` (also for a store without `timers`), `RUNTIME_CLOSED`
   *
   * @example
   * ```ts
   * const waker = runtime.wake({ definitions: [coder] })
   * await waker.close()
   * ```
   */
  wake(options: WakeOptions): Waker

  /**
   * Returns the machines that are open in this process, kept by `hostMachine` of `escapement/xstate`.
   *
   * @example
   * ```ts
   * for (const { id, machine, value, timers } of runtime.hosts()) console.log(id, machine, value, timers.length)
   * ```
   */
  hosts(): readonly HostView[]

  /**
   * Returns everything that waits for people, at all agents of the store or those with certain metadata, running or not: approvals,
   * questions, and calls for clients, including those of sub-agents. Wakes no agent. Incognito agents are left out. To decide for an
   * agent that does not run, open it first with `runtime.open`. Logs that cannot be read are left out. Unchanged logs are not read
   * again. Rejects with `RUNTIME_CLOSED`, `INVALID_OPTION` and `STORE_READ_FAILED`.
   *
   * @example
   * ```ts
   * for (const { agentId, pending } of await runtime.waiting())
   *   for (const { key, name } of pending) console.log(agentId, name, key)
   * ```
   */
  waiting(options?: WaitingOptions): Promise<readonly WaitingAgent[]>

  /**
   * Serves the agents over a WebSocket, to `escapement/client` or anything else that speaks the protocol. The server is closed with the runtime. Its
   * code is loaded by the first call.
   *
   * @throws RuntimeError `INVALID_OPTION` (also for a host other than this machine without tokens), `BRIDGE_LISTEN_FAILED`, `RUNTIME_CLOSED`
   *
   * @example
   * ```ts
   * const server = await runtime.serve({ definitions: [coder] })
   * console.log(`The inspector is at http://127.0.0.1:${server.port}/`)
   * await server.close()
   * ```
   */
  serve(options?: ServeOptions): Promise<BridgeServer>

  /**
   * Returns a client of the agents in this process, like the client that `connect` of `escapement/client` returns for a
   * server, but without a port: for tests, and for code that is to work the same near the runtime and far from it. It
   * uses the same protocol, and is ready. Close it when you no longer need it. It is closed with the runtime.
   *
   * @throws RuntimeError `INVALID_OPTION`, `RUNTIME_CLOSED`
   *
   * @example
   * ```ts
   * const client = await runtime.connect({ definitions: [coder] })
   * const agent = await client.spawn('coder')
   * const { text } = await agent.prompt('Fix the failing test').result
   * client.close()
   * ```
   */
  connect(options?: InProcessOptions): Promise<Client>
}

/**
 * Creates a runtime. Close it when you are done, or declare it with `await using` where Node supports that.
 *
 * @example
 * ```ts
 * const runtime = await createRuntime({ store: fileStore('.escapement') })
 * const agent = await runtime.spawn(coder)
 * const { text } = await agent.prompt('Fix the failing test').result
 * await runtime.close()
 * ```
 */
export async function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  checkOptions('createRuntime', options)
  return new ServedRuntime(runtimeSetup(options))
}

class ServedRuntime extends LocalRuntime implements Runtime {
  #waiting: WaitingList | undefined

  async resumeAll(options: ResumeAllOptions): Promise<ResumedAll> {
    this.checkOpen()
    return await resumeAll({ runtime: this, store: this.shared.store }, options)
  }

  wake(options: WakeOptions): Waker {
    this.checkOpen()
    const { shared, logger } = this
    const waker = startWaker({ runtime: this, store: shared.store, clock: shared.clock, logger }, options)
    const { offered } = hostingOf(this)
    // Whoever wakes machines also takes events for those that are closed.
    for (const machine of options.machines ?? []) offered.set(machine.name, machine as OfferedMachine)
    this.closeWith(waker)
    return waker
  }

  hosts(): readonly HostView[] {
    return [...hostingOf(this).open.values()].map(({ view }) => view)
  }

  async waiting(options: WaitingOptions = {}): Promise<readonly WaitingAgent[]> {
    this.checkOpen()
    checkOptions('waiting', options)
    this.#waiting ??= new WaitingList(this.shared.store, (agentId) => this.agent(agentId))
    const found: WaitingAgent[] = []
    for await (const one of this.#waiting.find({ parent: null, ...options }))
      found.push(
        waitingAgent(
          one,
          one.waiting.map(({ pending }) => pending),
        ),
      )
    return inOrder(found)
  }

  async serve(options: ServeOptions = {}): Promise<BridgeServer> {
    this.checkOpen()
    const { serve } = await import('./server/serve.ts')
    const { shared, logger } = this
    const { store, clock } = shared
    const server = await serve(this, { store, clock, logger, redactor: () => shared.sources.redactor }, options)
    if (!this.closeWith(server)) {
      await server.close()
      this.checkOpen()
    }
    return server
  }

  async connect(options: InProcessOptions = {}): Promise<Client> {
    this.checkOpen()
    const [{ InProcessServer }, { connect }] = await Promise.all([
      import('./inProcess/inProcessServer.ts'),
      import('./client/connect.ts'),
    ])
    this.checkOpen()
    const { shared, logger } = this
    const { store, clock } = shared
    const server = new InProcessServer(this, { store, clock, logger, redactor: () => shared.sources.redactor }, options)
    const client = connect(server.url, { webSocket: server.webSocket, clock })
    client.onStatus((status) => {
      if (status === 'closed') void server.close()
    })
    this.closeWith({ close: () => server.close().then(() => client.close()) })
    await client.ready
    return client
  }
}
