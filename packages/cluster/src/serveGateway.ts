import type { GatewayServer } from './gateway/gateway.ts'
import type { GatewayOptions } from './gateway/gatewayOptions.ts'

/**
 * Serves the agents of all processes on one store, to the same clients as `runtime.serve`. It finds the process that has an agent, and passes
 * commands to it and events back. When an agent moves, its clients continue. A gateway runs no agents and keeps no state, so there may be several.
 *
 * @throws RuntimeError `INVALID_OPTION`, `BRIDGE_LISTEN_FAILED`
 *
 * @example
 * ```ts no-run
 * import { sqliteStore } from 'escapement/sqlite'
 *
 * const secret = process.env['GATEWAY_SECRET']!
 * // Each worker: runtime.serve({ definitions: [coder], gatewaySecret: secret })
 * const gateway = await serveGateway({ directory: sqliteStore('agents.db'), secret })
 * console.log(gateway.url)
 * ```
 */
export async function serveGateway(options: GatewayOptions): Promise<GatewayServer> {
  const gateway = await import('./gateway/gateway.ts')
  return gateway.serveGateway(options)
}
