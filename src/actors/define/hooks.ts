import { z } from 'zod'
import { onlyFields } from '../../protocol/checks/onlyFields.ts'
import type { Block, Message, PlainBlock } from '../../protocol/messages.ts'
import type { RunContext } from '../calls/runContext.ts'
import { agentPart } from '../parts/agentPart.ts'
import { defaultHookMs } from '../turn/turnOptions.ts'
import type { StateDoor } from '../parts/state/stateDoor.ts'
import type { ToolEffects, ToolOutput } from '../tools/defineTool.ts'

/** A call of a tool or a sub-agent, in the form for a hook. */
export interface HookedCall<out Deps = unknown> extends RunContext<Deps> {
  /** The model's id for this call. */
  readonly callId: string
  /** Deterministic id of the call, the same on every attempt. */
  readonly key: string
  readonly type: 'tool' | 'agent'
  /** Name of the tool, or of the sub-agent's definition. */
  readonly name: string
  /** A copy of the arguments as JSON. They fit the schema, but its defaults and transforms are not applied yet. */
  readonly input: unknown
  /** Effects of the tool, if the call is for a tool. */
  readonly effects?: ToolEffects
  /** The agent's state, if its definition has `state`. @throws RuntimeError `STATE_OFF` when it is used without one */
  readonly state: StateDoor
}

/**
 * Decision of `beforeTool`: nothing or `allow` lets the call run; `deny` refuses it, and the model reads why; `input` replaces its
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
  /** Data of the call for the application, if it has any. A result that is replaced or withheld has none. */
  readonly data?: unknown
}

/**
 * Decision of `afterTool`: nothing leaves the result as it is; `result` replaces it, and is an error if `isError` says so, by default if
 * the result was one. With `endsRun: true` a result that is no error ends the run; with `false` it does not, whatever its tool says.
 */
export type AfterToolAnswer =
  | undefined
  | { readonly result: ToolOutput; readonly isError?: boolean; readonly endsRun?: boolean }
  | { readonly endsRun: boolean }

/** The text that a guard is asked about, with its surroundings. */
export interface GuardContext<out Deps = unknown> extends RunContext<Deps> {
  /** `input`: the messages of people since the guards last let something pass, as a rule the prompt; `output`: the answer. */
  readonly at: 'input' | 'output'
  /** Text of the text blocks, with several messages on lines of their own. */
  readonly text: string
  readonly content: readonly Block[]
  /** The answer as data, if the agent has an `output` schema. */
  readonly output?: unknown
  /** The conversation as the model is shown it, including the messages of people. */
  readonly messages: readonly Message[]
}

/** Decision of a guard; the reason is shown to people and to the model. */
export type GuardAnswer = { readonly ok: true } | { readonly refuse: string }

/** Decides whether something may be said. Recorded by the name of the function. */
export type Guard<in Deps = unknown> = (context: GuardContext<Deps>) => GuardAnswer | Promise<GuardAnswer>

export interface GuardOptions<in Deps = unknown> {
  /** Guards asked about the messages of people, beside the first request after them. No call starts before all guards have let them pass. */
  readonly input?: readonly Guard<Deps>[]
  /** Guards asked about every answer without calls, before it is recorded. People have seen streamed text by then. */
  readonly output?: readonly Guard<Deps>[]
}

export interface HookOptions<in Deps = unknown> {
  /**
   * Decides about every call of a tool or sub-agent whose arguments fit, before anyone is asked to approve it. Not asked about the
   * runtime's own tools, such as `revert_to_state`. If it throws, answers something else or takes longer than `hookTimeoutMs`, the call
   * is not run.
   */
  readonly beforeTool?: (call: HookedCall<Deps>) => BeforeToolAnswer | void | Promise<BeforeToolAnswer | void>
  /**
   * Receives the result of every call that ran, before any of it is kept or shown to the model. If it throws, answers
   * something else or takes longer than `hookTimeoutMs`, the model is told that the call ran and that its result is withheld.
   */
  readonly afterTool?: (
    call: HookedCall<Deps>,
    result: HookedResult,
  ) => AfterToolAnswer | void | Promise<AfterToolAnswer | void>
  /**
   * Guards, those of each list asked at once. The first that refuses ends the run with `refusal`, and the model never
   * sees the refused text: a line with the reason takes its place. A guard that throws, answers something else or takes
   * longer than `hookTimeoutMs` ends the run with `GUARD_FAILED`.
   */
  readonly guards?: GuardOptions<Deps>
  /** Milliseconds that a hook or a guard has for one answer; default 30,000. */
  readonly hookTimeoutMs?: number
}

/** The hooks of a definition. */
export interface AgentHooks<in Deps = never> {
  readonly beforeTool: HookOptions<Deps>['beforeTool']
  readonly afterTool: HookOptions<Deps>['afterTool']
  readonly timeoutMs: number
}

const hook = () => z.custom((value) => typeof value === 'function', 'give a function')

/** The guards of a definition. */
export interface AgentGuards<in Deps = never> {
  readonly input: readonly Guard<Deps>[]
  readonly output: readonly Guard<Deps>[]
  readonly timeoutMs: number
}

/** The part for hooks and guards. */
export const hooksPart = agentPart<
  HookOptions<never>,
  { readonly hooks: AgentHooks | null; readonly guards: AgentGuards | null }
>({
  options: {
    beforeTool: hook,
    afterTool: hook,
    guards: () => onlyFields({ input: z.array(hook()), output: z.array(hook()) }).partial(),
    hookTimeoutMs: () => z.number().positive(),
  },
  settings({
    beforeTool,
    afterTool,
    guards: { input = [], output = [] } = {},
    hookTimeoutMs: timeoutMs = defaultHookMs,
  }) {
    const isHooked = beforeTool !== undefined || afterTool !== undefined
    return {
      hooks: isHooked ? { beforeTool, afterTool, timeoutMs } : null,
      guards: input.length + output.length === 0 ? null : { input, output, timeoutMs },
    }
  },
  flags: ({ beforeTool, guards: { input = [], output = [] } = {} }) => ({
    ...(beforeTool === undefined ? {} : { beforeTool: true }),
    ...(input.length === 0 ? {} : { inputGuards: true }),
    ...(output.length === 0 ? {} : { outputGuards: true }),
  }),
})
