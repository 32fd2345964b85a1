import type { Model } from '../../protocol/ports/model.ts'
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

/** A set's tools as an agent has them; those that a provider carries out have no calls of the agent. */
export type ToolsOf<Set> = {
  readonly [Name in keyof Set & string]: Set[Name] extends { readonly isProviderExecuted: true }
    ? never
    : Tool<unknown, Name, InputOf<Set[Name]>>
}[keyof Set & string]

/** Readers of what definitions may have and the core does not know: models and tools of another library, folders. */
interface Foreign {
  /** Returns `undefined` for what is no such model. */
  model(value: unknown): Model | undefined
  isToolSet(value: unknown): value is AiSdkToolSet
  /** Errors begin with `label`. */
  toolsOf(set: AiSdkToolSet, label: string): readonly (AnyTool | ToolSource)[]
  skillTools(folders: readonly string[]): ToolSource
}

/** The readers, which `packages/define` brings before it defines an agent. */
export const foreign: Partial<Foreign> = {}
