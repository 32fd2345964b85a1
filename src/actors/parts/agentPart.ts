import type { z } from 'zod'
import type { AgentPolicy } from '../../machines/agentPolicy.ts'
import type { AnyTool } from '../tools/defineTool.ts'
import type { ToolSource } from '../tools/toolSource.ts'

/**
 * A feature of an agent, as a plain object in the list of `parts.ts`. `Options`: the options of `defineAgent` that
 * belong to it. `Settings`: the fields of a definition that follow from them.
 */
export interface AgentPart<Options extends object = object, Settings extends object = object> {
  /** A schema for each option. */
  readonly options: { readonly [O in keyof Options]-?: () => z.ZodType }
  /** Returns the settings made of options that their schemas have checked. @throws RuntimeError `INVALID_DEFINITION` */
  settings(options: Options, label: string): Settings
  /** Tools and sources of tools that the model gets. */
  tools?(options: Options, settings: Settings): readonly (AnyTool | ToolSource)[]
  /** Names of its tools. No tool of a source gets one of them, even in definitions without the part. */
  readonly toolNames?: readonly string[]
  /** Switches of the machine. */
  flags?(options: Options, settings: Settings): Partial<AgentPolicy['flags']>
  /** The field of the settings that, with the tools, stays as it is when the conversation is handed over to another definition. */
  readonly staysAtHandoff?: string
}

/** Returns a part as the list of parts has it: without the types of its options. */
export const agentPart = <Options extends object, Settings extends object>(
  part: AgentPart<Options, Settings>,
): AgentPart => part
