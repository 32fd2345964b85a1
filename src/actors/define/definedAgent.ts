import type { ToolSpec } from '../../protocol/ports/model.ts'
import { type AgentDefinition, madeHere, type Callee } from './agentDefinition.ts'
import { reporting, subAgentSpec } from './subAgents.ts'
import type { AnyTool } from '../tools/defineTool.ts'
import { isDeferred } from '../parts/deferred/deferral.ts'
import { SourceTool } from '../tools/sourceTool.ts'
import { transferTool } from '../tools/transferTool.ts'
import { waitForName, waitForTool } from '../tools/waitForTool.ts'

/** The parts of a definition that are known at once. */
export type DefinitionParts = Omit<AgentDefinition, 'agents' | 'handoffs' | 'toolSpecs' | 'frameTokens'>

/** The agents that a definition names, available once they are all defined. */
interface Callable {
  readonly called: () => ReadonlyMap<string, Callee>
  readonly handoffs: () => ReadonlyMap<string, AgentDefinition>
  readonly options: object | undefined
}

const none: ReadonlyMap<string, AgentDefinition> = new Map()

/** Returns the options that a definition was made from; `undefined` if the runtime derived it from others. */
export let optionsOf: (definition: AgentDefinition) => object | undefined
const noHandoffs = (): ReadonlyMap<string, AgentDefinition> => none

/**
 * A definition whose fields are its parts. It is a class, because ten thousand definitions with getters of their own
 * would each weigh as much as an agent.
 */
class Definition {
  readonly #called: () => ReadonlyMap<string, Callee>
  readonly #handoffs: () => ReadonlyMap<string, AgentDefinition>
  readonly #ownTools: ReadonlyMap<string, AnyTool>
  #tools: ReadonlyMap<string, AnyTool> | undefined
  #toolSpecs: readonly ToolSpec[] | undefined
  #frameTokens: number | undefined
  /** The options as they were given, not a copy: a definition must stay light. */
  readonly #options: object | undefined

  static {
    optionsOf = (definition) => (definition as unknown as Definition).#options
  }

  constructor({ tools, ...parts }: DefinitionParts, { called, handoffs, options }: Callable) {
    Object.assign(this, parts)
    this.#ownTools = tools
    this.#called = called
    this.#handoffs = handoffs
    this.#options = options
  }

  get tools(): ReadonlyMap<string, AnyTool> {
    return (this.#tools ??= this.#equipped())
  }

  #equipped(): ReadonlyMap<string, AnyTool> {
    // The one of background calls waits for agents too.
    const waits = reporting(this.agents).length > 0 && !this.#ownTools.has(waitForName)
    const transfers = [...this.handoffs.values()].map(transferTool)
    if (!waits && transfers.length === 0) return this.#ownTools
    return new Map([
      ...this.#ownTools,
      ...(waits ? [[waitForName, waitForTool()] as const] : []),
      ...transfers.map((tool) => [tool.name, tool] as const),
    ])
  }

  get handoffs(): ReadonlyMap<string, AgentDefinition> {
    return this.#handoffs()
  }

  get agents(): ReadonlyMap<string, Callee> {
    return this.#called()
  }

  get toolSpecs(): readonly ToolSpec[] {
    return (this.#toolSpecs ??= Object.freeze(this.#specs()))
  }

  /** Lists the tools of sources last, so that tools that come and go there move nothing else. */
  #specs(): ToolSpec[] {
    const tools = [...this.tools.values()].filter(({ name }) => !isDeferred(this.#definition, name))
    return [
      ...tools.filter((tool) => !(tool instanceof SourceTool)).map(specOf),
      ...[...this.agents.values()].filter((agent) => agent.isDeferred !== true).map(subAgentSpec),
      ...tools.filter((tool) => tool instanceof SourceTool).map(specOf),
    ]
  }

  get frameTokens(): number {
    const { counter, system } = this.#parts
    const tools = (): number => (this.toolSpecs.length === 0 ? 0 : counter.text(JSON.stringify(this.toolSpecs)))
    return (this.#frameTokens ??= counter.text(system) + tools())
  }

  get #definition(): AgentDefinition {
    return this as unknown as AgentDefinition
  }

  get #parts(): Omit<DefinitionParts, 'tools'> {
    return this as unknown as DefinitionParts
  }
}

export const specOf = ({ name, description, inputSchema, spec }: AnyTool): ToolSpec =>
  spec === undefined ? { name, description, inputSchema } : { name, description, inputSchema, ...spec }

/** Creates a definition from its parts. Agents may call one another, so everything that depends on other agents is made on first use. */
export const definedAgent = (
  parts: DefinitionParts,
  called: () => ReadonlyMap<string, Callee>,
  handoffs: () => ReadonlyMap<string, AgentDefinition> = noHandoffs,
  options?: object,
): AgentDefinition =>
  madeHere(Object.freeze(new Definition(parts, { called, handoffs, options })) as unknown as AgentDefinition)
