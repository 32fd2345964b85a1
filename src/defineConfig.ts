import type { AnyModel } from './actors/models/anyModel.ts'
import type { AgentDefinition } from './actors/agentDefinition.ts'
import type { ToolEntries, ToolEntry } from './actors/toolEntries.ts'
import type { ModelLimits } from './actors/models/limits/modelLimit.ts'
import type { McpServerOptions } from './mcp/options.ts'
import type { Model } from './protocol/model.ts'
import type { Limits } from './protocol/runLimits.ts'
import type { RedactOptions } from './redaction/redactor.ts'
import type { ServeOptions } from './server/bridge/serveOptions.ts'

/** A model: `provider:id` as for `--model`, a name of `models`, `'embedded'`, or the model itself. */
export type ConfigModel = string | AnyModel

/** Parts of the configuration that an agent is made from. */
export interface ConfigGiven {
  /** All that `tools`, `skills` and `mcp` of the configuration have, for `tools` of the definition. */
  readonly tools: readonly ToolEntry[]
  /** The model of `--model`, `ESCAPEMENT_MODEL` or `model` of the configuration, else the first whose key is set, else the embedded one. */
  readonly model: Model
}

/** A definition, or a function that makes one with the model that the command line chose. */
export type ConfigAgent = AgentDefinition | ((given: ConfigGiven) => AgentDefinition)

/**
 * A server of the Model Context Protocol: `command` for one that runs as a process, whose `cwd` is relative to this file (default: its folder),
 * or `url`. It takes what `mcpTools` does; its name is the key.
 */
export type ConfigMcpServer = McpServerOptions

/** Options of `escapement serve`, besides those of `runtime.serve`; options of the command line take precedence. */
export interface ConfigServe extends Omit<ServeOptions, 'server' | 'definitions'> {
  /** Speak the Agent Client Protocol at `/acp`. */
  readonly acp?: boolean
  /** Speak AG-UI at `/ag-ui`. */
  readonly agUi?: boolean
  /** Offer the agents as tools of an MCP server at `/mcp`. */
  readonly mcp?: boolean
  /** Send the Stately inspector's messages at `/stately`. */
  readonly stately?: boolean
}

/** Contents of `escapement.config.ts`. Everything may be left out. */
export interface Config {
  /** Agents that `serve`, `acp` and `mcp` offer, and that `run` and `chat` talk to: the first, unless `--agent` names another. */
  readonly agents?: readonly ConfigAgent[]
  /** The model, where neither `--model` nor `ESCAPEMENT_MODEL` names one. */
  readonly model?: ConfigModel
  /** Names for models, for `--model` and `model`. */
  readonly models?: { readonly [name: string]: ConfigModel }
  /**
   * Further tools, or sources of tools, of the command line's own coding agent, which there is where `agents` has none. Agents made by a
   * function are given them too.
   */
  readonly tools?: ToolEntries
  /** Folders of skills of that agent, relative to this file. */
  readonly skills?: readonly string[]
  /** MCP servers of that agent, by name, with the options of `mcpTools` in `escapement/mcp`. */
  readonly mcp?: { readonly [name: string]: ConfigMcpServer }
  /** Limits of each run of that agent. Default: 200 turns. */
  readonly limits?: Limits
  /** Store of sessions: a folder or `sqlite:<file>`, relative to this file, or `postgres://…`. Default: `.escapement` in the folder of `--dir`. */
  readonly store?: string
  /**
   * Memory of that agent beyond one conversation, which `escapement memory` also reads: a folder of Markdown files, or an SQLite file, whose
   * name has an ending such as `.db`. Relative to this file. Searching a folder needs the package `minisearch`. Default: it remembers nothing.
   */
  readonly memory?: string
  /** Secrets that no log, event or request may hold. */
  readonly redact?: RedactOptions
  /** How much is asked of models at a time, by all agents together. */
  readonly modelLimits?: ModelLimits
  readonly serve?: ConfigServe
}

/**
 * For `escapement.config.ts`: gives back what it is given, so that editors know its fields. The command line checks it when it reads the file.
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
