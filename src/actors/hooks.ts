import { z } from 'zod'
import type { PlainBlock } from '../protocol/messages.ts'
import type { RunContext } from './runContext.ts'
import type { ToolEffects, ToolOutput } from './tools/defineTool.ts'

/** A call of a tool or a sub-agent, as a hook is given it. */
export interface HookedCall<out Deps = unknown> extends RunContext<Deps> {
  /** The model's id of this call. */
  readonly callId: string
  /** Deterministic id of the call, the same on every attempt. */
  readonly key: string
  readonly type: 'tool' | 'agent'
  /** Of the tool, or of the sub-agent's definition. */
  readonly name: string
  /** The arguments as JSON, a copy. They fit the schema; what the schema would fill in or transform is not in them yet. */
  readonly input: unknown
  /** Of a tool. */
  readonly effects?: ToolEffects
}

/**
 * What `beforeTool` decides: nothing or `allow` lets the call run; `deny` refuses it, and the model reads why; `input` replaces its
 * arguments, which must fit the schema; `result` answers it as if the tool had returned that, and it is not run.
 */
export type BeforeToolAnswer =
  | undefined
  | { readonly allow: true }
  | { readonly deny: string }
  | { readonly input: unknown }
  | { readonly result: ToolOutput }

/** The result of a call, as the model would read it. */
export interface HookedResult {
  readonly content: readonly PlainBlock[]
  readonly isError: boolean
}

/**
 * What `afterTool` makes of a result: nothing leaves it as it is; `result` replaces it, and is an error if `isError` says so, by default
 * if the result was one.
 */
export type AfterToolAnswer = undefined | { readonly result: ToolOutput; readonly isError?: boolean }

export interface HookOptions<in Deps = never> {
  /**
   * Decides about every call of a tool or sub-agent whose arguments fit, before anyone is asked to approve it. Not asked about the
   * runtime's own tools, such as `revert_to_state`. If it throws, answers something else or takes longer than `hookTimeoutMs`, the call
   * is not run.
   */
  readonly beforeTool?: (call: HookedCall<Deps>) => BeforeToolAnswer | void | Promise<BeforeToolAnswer | void>
  /**
   * Is given what every call that ran has come to, before anything of it is kept or shown to the model. If it throws, answers something
   * else or takes longer than `hookTimeoutMs`, the model is told that the call ran and that its result is withheld.
   */
  readonly afterTool?: (
    call: HookedCall<Deps>,
    result: HookedResult,
  ) => AfterToolAnswer | void | Promise<AfterToolAnswer | void>
  /** Milliseconds that a hook has for one answer; default 30,000. */
  readonly hookTimeoutMs?: number
}

/** The hooks of a definition. */
export interface AgentHooks<in Deps = never> {
  readonly beforeTool: HookOptions<Deps>['beforeTool']
  readonly afterTool: HookOptions<Deps>['afterTool']
  readonly timeoutMs: number
  /** The runtime's own tools, of which hooks are not told. */
  readonly ownTools: ReadonlySet<string>
}

const hook = z.custom((value) => typeof value === 'function', 'give a function').optional()

/** Fields of the options' schema. */
export const hookFields = { beforeTool: hook, afterTool: hook, hookTimeoutMs: z.number().positive().optional() }

/** The hooks of checked options; `null` without any. */
export function hooksOf<Deps>(
  { beforeTool, afterTool, hookTimeoutMs: timeoutMs = 30_000 }: HookOptions<Deps>,
  ownTools: readonly { readonly name: string }[],
): AgentHooks<Deps> | null {
  if (beforeTool === undefined && afterTool === undefined) return null
  return { beforeTool, afterTool, timeoutMs, ownTools: new Set(ownTools.map(({ name }) => name)) }
}
