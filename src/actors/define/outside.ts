import type { Model, ToolSpec } from '../../protocol/ports/model.ts'
import type { AnyTool, Tool } from '../tools/defineTool.ts'
import type { ToolSource } from '../tools/toolSource.ts'

/** A tool made with `tool()` of the AI SDK or by a provider's package, declared here so that no package is needed. */
export interface AiSdkTool {
  readonly type?: 'function' | 'dynamic' | 'provider' | undefined
  readonly description?: string | ((options: never) => string) | undefined
  readonly inputSchema: unknown
  readonly execute?: ((input: never, options: never) => unknown) | undefined
  readonly needsApproval?: unknown
  readonly toModelOutput?: ((options: never) => unknown) | undefined
  readonly contextSchema?: unknown
  readonly strict?: boolean | undefined
  readonly inputExamples?: readonly unknown[] | undefined
  readonly providerOptions?: unknown
  /** Id of a provider's tool: `anthropic.web_search_20250305`. */
  readonly id?: string | undefined
  readonly args?: unknown
  readonly isProviderExecuted?: boolean | undefined
}

/** Tools of the AI SDK by name, as `generateText` takes them. */
export interface AiSdkToolSet {
  readonly [name: string]: AiSdkTool
}

type InputOf<T> = T extends { readonly execute?: infer Execute }
  ? NonNullable<Execute> extends (input: infer Input, ...rest: never[]) => unknown
    ? Input
    : unknown
  : unknown

/** A set's tools as an agent has them, without those that the provider carries out, which are no calls of the agent. */
export type ToolsOf<Set> = {
  readonly [Name in keyof Set & string]: Set[Name] extends { readonly isProviderExecuted: true }
    ? never
    : Tool<unknown, Name, InputOf<Set[Name]>>
}[keyof Set & string]

/** Features that packages add to the core's definitions: models and tools of another library, folders, and tools that are found by words. */
interface Outside {
  /** Returns the model made from another library's; `undefined` if the value is no such model. */
  model(value: unknown): Model | undefined
  isToolSet(value: unknown): value is AiSdkToolSet
  /** Returns the tools of a set. Errors begin with `label`. */
  toolsOf(set: AiSdkToolSet, label: string): readonly (AnyTool | ToolSource)[]
  skillTools(folders: readonly string[]): ToolSource
  /** Returns the tools with which a model finds and calls the tools that no request lists. `about`: text about the tools to be found. */
  findingTools(about: string): readonly AnyTool[]
  /** Returns the text that shows a model a tool that it found. */
  declarationOf(spec: ToolSpec): string
}

/** Features that packages have added. Complete once `packages/define` has defined an agent. */
export const outside: Partial<Outside> = {}
