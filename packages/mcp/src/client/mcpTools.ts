import type { ToolSource } from '../../../../src/actors/tools/toolSource.ts'
import { McpConnection } from './connection.ts'
import { readOptions, type McpOptions } from './options.ts'
import { secretsIn, ServerSecrets } from './serverSecrets.ts'

/**
 * The tools of a server of the Model Context Protocol, as an entry of an agent's `tools`. The server is started, or reached, by the first turn
 * that needs it, and once for each runtime, however many agents have this object; it ends with the runtime. Needs
 * `@modelcontextprotocol/client`.
 *
 * A server that cannot be reached is started again with growing pauses; agents keep the tools it had, and their calls are answered with an
 * error that the model reads.
 *
 * @throws RuntimeError `INVALID_OPTION`
 *
 * @example
 * ```ts no-run
 * import { mcpTools } from 'escapement/mcp'
 *
 * const files = mcpTools({ name: 'files', command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] })
 * const clerk = defineAgent({ name: 'clerk', model, tools: [files] })
 * ```
 */
export function mcpTools(options: McpOptions): ToolSource {
  const settings = readOptions(options)
  const secrets = secretsIn(settings)
  return Object.freeze({
    source: settings.name,
    secrets,
    deferAbove: settings.maxTools,
    open: (host) => new McpConnection(settings, host, new ServerSecrets(secrets, (learnt) => host.hide?.(learnt))),
  } satisfies ToolSource)
}
