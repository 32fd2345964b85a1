import type { BridgeServer, ServeOptions } from './server/bridge/serveOptions.ts'
import type { AgentRuntime } from './runtime/agentRuntime.ts'
import { LocalRuntime } from './runtime/runtime.ts'
import { checkOptions, type RuntimeOptions } from './runtime/runtimeOptions.ts'

/** Spawns agents, owns what they share, and can serve them over the network. */
export interface Runtime extends AgentRuntime {
  /**
   * Serves the agents over a WebSocket, to `escapement/client` or anything else that speaks the protocol. The server is closed with
   * the runtime, and its code is loaded by the first call.
   *
   * @throws RuntimeError `INVALID_OPTION` (also for a host other than this machine without tokens), `BRIDGE_LISTEN_FAILED`,
   * `RUNTIME_CLOSED`
   *
   * @example
   * ```ts
   * const server = await runtime.serve({ definitions: [coder] })
   * console.log(`The inspector is at http://127.0.0.1:${server.port}/`)
   * await server.close()
   * ```
   */
  serve(options?: ServeOptions): Promise<BridgeServer>
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
  return new ServedRuntime(options)
}

class ServedRuntime extends LocalRuntime implements Runtime {
  async serve(options: ServeOptions = {}): Promise<BridgeServer> {
    this.checkOpen()
    const { serve } = await import('./server/bridge/serve.ts')
    const { shared, logger } = this
    const { store, clock } = shared
    const server = await serve(this, { store, clock, logger, redactor: () => shared.redactor }, options)
    if (!this.closeWith(server)) {
      await server.close()
      this.checkOpen()
    }
    return server
  }
}
