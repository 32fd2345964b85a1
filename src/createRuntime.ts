import type { BridgeServer, ServeOptions } from './server/bridge/serveOptions.ts'
import { LocalRuntime, type AgentRuntime } from './runtime/runtime.ts'
import { checkOptions, type RuntimeOptions } from './runtime/runtimeOptions.ts'

/** Spawns agents and owns what they share; serves them to others when it is told to. */
export interface Runtime extends AgentRuntime {
  /**
   * Serves the agents over WebSocket, to `escapement/client` or anything that speaks the protocol. Closed with the runtime. The
   * first call loads the server.
   *
   * @throws RuntimeError `INVALID_OPTION`, also for a host beyond this machine without tokens; `BRIDGE_LISTEN_FAILED`, `RUNTIME_CLOSED`
   */
  serve(options?: ServeOptions): Promise<BridgeServer>
}

/** Makes a runtime. Close it, or hold it with `await using` where Node has that. */
export async function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  checkOptions('createRuntime', options)
  return new ServedRuntime(options)
}

class ServedRuntime extends LocalRuntime implements Runtime {
  async serve(options: ServeOptions = {}): Promise<BridgeServer> {
    this.checkOpen()
    const { serve } = await import('./server/bridge/serve.ts')
    const server = await serve(this, { ...this.shared, logger: this.logger }, options)
    this.closeWith(server)
    return server
  }
}
