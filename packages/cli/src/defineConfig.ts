import type { AnyModel } from '../../../src/actors/models/anyModel.ts'
import type { AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import type { ToolEntries, ToolEntry } from '../../../src/actors/define/toolEntries.ts'
import type { ModelLimits } from '../../runtime/src/limits/modelLimit.ts'
import type { GatewayOptions } from '../../cluster/src/gateway/gatewayOptions.ts'
import type { RestateWorkerOptions } from '../../cluster/src/restate/restateWorker.ts'
import type { PostgresStoreOptions } from '../../postgres/src/postgresOptions.ts'
import type { McpServerOptions } from '../../mcp/src/client/options.ts'
import type { Model } from '../../../src/protocol/ports/model.ts'
import type { Limits } from '../../../src/protocol/runs/runLimits.ts'
import type { RedactOptions } from '../../redaction/src/redactor.ts'
import type { ServeOptions } from '../../bridge/src/server/serveOptions.ts'

/** A model: `provider:id` as for `--model`, a name in `models`, `'embedded'`, or the model object. */
export type ConfigModel = string | AnyModel

/** Values for a function that creates an agent of the configuration. */
export interface ConfigGiven {
  /** Tools from `tools`, `skills` and `mcp` of the configuration, for `tools` of the definition. */
  readonly tools: readonly ToolEntry[]
  /** The model given by `--model`, `ESCAPEMENT_MODEL` or `model` of the configuration, else the first whose key is set, else the embedded one. */
  readonly model: Model
}

/**
 * An MCP server: `command` for a server that runs as a process, whose `cwd` is relative to this file (default: its folder),
 * or `url`. Takes the options of `mcpTools`. The key is its name.
 */
export type ConfigMcpServer = McpServerOptions

/** Options of `escapement serve`, besides those of `runtime.serve`; options of the command line take precedence. */
export interface ConfigServe extends Omit<ServeOptions, 'server' | 'definitions'> {
  /** True to speak the Agent Client Protocol at `/acp`. */
  readonly acp?: boolean
  /** True to speak AG-UI at `/ag-ui`. */
  readonly agUi?: boolean
  /** True to offer the agents as tools of an MCP server at `/mcp`. */
  readonly mcp?: boolean
  /** True to send the Stately inspector's messages at `/stately`. */
  readonly stately?: boolean
}

/** Options of `escapement worker`, besides those of its command line, which take precedence. */
export interface ConfigWorker extends Pick<
  RestateWorkerOptions,
  'warm' | 'inactivityMs' | 'idempotencyMs' | 'deps' | 'tracer' | 'tenants'
> {
  /** Time in milliseconds for calls in progress to end once the worker is told to end. Default: 20,000. */
  readonly drainMs?: number
  /** Limits of its bridge. Each client of a gateway takes one connection. */
  readonly limits?: ServeOptions['limits']
  /** Other protocols for gateways. */
  readonly endpoints?: ServeOptions['endpoints']
}

/** Options of `escapement gateway`, besides those of its command line, which take precedence. */
export type ConfigGateway = Omit<
  GatewayOptions,
  'directory' | 'secret' | 'server' | 'port' | 'host' | 'clock' | 'logger'
>

/** Configuration in `escapement.config.ts`. All fields are optional. */
export interface Config {
  /** Agents for `serve`, `acp` and `mcp`. `run` and `chat` use the first, or the one of `--agent`. A function gets the command line's model. */
  readonly agents?: readonly (AgentDefinition | ((given: ConfigGiven) => AgentDefinition))[]
  /** Model to use if neither `--model` nor `ESCAPEMENT_MODEL` names one. */
  readonly model?: ConfigModel
  /** Names for models, for `--model` and `model`. */
  readonly models?: { readonly [name: string]: ConfigModel }
  /**
   * Further tools, or sources of tools, for the command line's own coding agent, which is the default if `agents` is empty. Agents created by a
   * function get them too.
   */
  readonly tools?: ToolEntries
  /** Folders of skills for that coding agent, relative to this file. */
  readonly skills?: readonly string[]
  /** True if agents from `agents` also get the folder's `AGENTS.md` files in `run` and `chat`, as the coding agent does. Default: false. */
  readonly agentsMd?: boolean
  /** MCP servers for the coding agent, by name, with the options of `mcpTools` in `escapement/mcp`. */
  readonly mcp?: { readonly [name: string]: ConfigMcpServer }
  /** Limits of each run of the coding agent. Default: 200 turns. */
  readonly limits?: Limits
  /** Store of sessions: a folder or `sqlite:<file>`, relative to this file, or `postgres://…`. Default: `.escapement` in the folder of `--dir`. */
  readonly store?: string
  /**
   * Memory of the coding agent beyond one conversation, also shown by `escapement memory`: a folder of Markdown files, or an SQLite file with an
   * extension such as `.db`. Relative to this file. Searching a folder needs the package `minisearch`. Default: none.
   */
  readonly memory?: string
  /** Secrets to keep out of logs, events and requests. */
  readonly redact?: RedactOptions
  /** Limits on requests to models, for all agents together. */
  readonly modelLimits?: ModelLimits
  readonly serve?: ConfigServe
  readonly worker?: ConfigWorker
  readonly gateway?: ConfigGateway
  /** Settings of stores at `postgres://…`, for workers and gateways: leases, connections, schema and so on. */
  readonly postgres?: Omit<PostgresStoreOptions, 'clock' | 'logger'>
}

/**
 * Declares the configuration in `escapement.config.ts`: returns its argument, so that editors know its fields. The command line checks it when it
 * reads the file.
 *
 * @example
 * ```ts
 * // escapement.config.ts exports this as its default.
 * const config = defineConfig({
 *   agents: [({ model }) => defineAgent({ name: 'helper', model, tools: workspaceTools(import.meta.dirname) })],
 *   model: 'anthropic:claude-sonnet-5-5',
 *   serve: { port: 8080 },
 * })
 * ```
 */
export const defineConfig = (config: Config): Config => config
