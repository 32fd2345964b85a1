import { z } from 'zod'
import { labelOf, messageOf, RuntimeError } from '../../protocol/errors.ts'
import { optionsCheck } from '../../protocol/checks/optionsCheck.ts'
import type { JsonSchema, ToolSpec } from '../../protocol/ports/model.ts'
import type { RunContext } from '../calls/runContext.ts'
import {
  backgroundSchemas,
  backgroundWork,
  checkedChoice,
  withChoice,
  wrongInBackground,
  type BackgroundWork,
} from './backgroundOption.ts'
import type { Subject } from '../parts/permissions/subjects.ts'
import { checkedUndo, wrongInUndo, type ToolEffects, type UndoContext, type UndoOption } from './checkedUndo.ts'
import { concludeOf, type Conclude, type DataOf } from './toolValue.ts'
import type { Redaction, ToolContext } from './toolContext.ts'
import {
  isToolSchema,
  notASchema,
  readSchema,
  type Parsed,
  type ReadSchema,
  type StandardInput,
  type ToolSchema,
} from './toolSchema.ts'

export type { Redaction, ToolContext, ToolEffects, UndoContext }

/** Return value of `run`: a string, content blocks, any JSON value, or nothing. */
export type ToolOutput = unknown

/** Arguments of a tool as its schema accepts them, and its data for the application; only for the type checker. */
declare const takes: unique symbol
declare const gives: unique symbol

/**
 * A tool as the runtime uses it, created by `defineTool`. `Deps`: type of the value that it needs from the application, by default
 * none. `Name`, `Input` (the arguments that its schema takes) and `Data` (of its results) are known when its calls are observed.
 */
export interface Tool<in Deps = unknown, out Name extends string = string, out Input = unknown, out Data = unknown> {
  readonly [takes]?: Input
  readonly [gives]?: Data
  readonly name: Name
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly timeoutMs: number
  readonly maxOutputChars: number
  readonly effects: ToolEffects
  /** True if it polls for something, so repeating a call is no loop. */
  readonly polls: boolean
  /** True if it has no `run`, so a client carries its calls out. */
  readonly external?: true
  /** Fields that models are sent in addition to name, description and schema. */
  readonly spec?: Omit<ToolSpec, 'name' | 'description' | 'inputSchema'>
  /** Checks the model's arguments; `message` is meant for the model. Never throws. */
  parse(input: unknown): Parsed
  /** True if its arguments have one canonical form, which `parse` returns. */
  readonly isCanonical?: true | undefined
  /** Returns the subjects of a call for the patterns of rules, if set. Takes parsed input. A call that throws may be about anything. */
  readonly subject?: ((input: unknown) => Subject | readonly Subject[]) | undefined
  /** Returns true if a person must approve this call. Takes parsed input. */
  needsApproval(input: unknown, context: RunContext<Deps>): boolean | Promise<boolean>
  /** Checks a call before a person is asked about it, if set. Takes parsed input. Throws an error for the model. */
  readonly check?:
    | ((
        input: unknown,
        context: Pick<ToolContext<Deps>, keyof RunContext | 'closeWith' | 'redact'>,
      ) => void | Promise<void>)
    | undefined
  run(input: unknown, context: ToolContext<Deps>): ToolOutput | Promise<ToolOutput>
  /** True if its calls may end the run. */
  readonly endsRun?: true
  /** Set if its calls may work in the background. */
  readonly background?: BackgroundWork
  /** Set if its values are checked, or converted for the model. */
  readonly conclude?: Conclude
  /** Set if a remote agent carries its calls out: names that rules can have for the requests of that agent. */
  readonly asks?: readonly string[] | undefined
  /** Undoes a call; set if its effects are reversible. Takes the input and receipts from the log, and checks them. */
  undo?(context: UndoContext<unknown, unknown, Deps>, toolOf?: (name: string) => AnyTool | undefined): Promise<void>
}

/** Any tool, whatever its dependencies. */
export type AnyTool = Tool<never>

/** The combined dependencies of tools. */
export type ToolDeps<T extends AnyTool> = (T extends Tool<infer Deps> ? (deps: Deps) => void : never) extends (
  deps: infer All,
) => void
  ? All
  : never

type AnyInput = { readonly [key: string]: unknown }

type InputOf<Input> = Input extends z.ZodType
  ? z.output<Input>
  : Input extends StandardInput<unknown, infer Out>
    ? Out
    : Input extends { readonly validate: (value: unknown) => infer Result }
      ? Extract<Awaited<Result>, { readonly success: true }> extends { readonly value: infer Value }
        ? Value
        : AnyInput
      : AnyInput

/** The arguments of a call as the model gives them. */
export type SentTo<Input> = Input extends z.ZodType
  ? z.input<Input>
  : Input extends StandardInput<infer In>
    ? In
    : AnyInput

export interface ToolOptions<
  Input extends ToolSchema,
  Receipt extends z.ZodType = z.ZodUnknown,
  Deps = unknown,
  Name extends string = string,
  Output extends z.ZodType = z.ZodUnknown,
> {
  /** Name of the tool: 1 to 64 letters, digits, `_` or `-`, which every provider accepts. */
  readonly name: Name
  readonly description: string
  /**
   * Schema of the arguments: a zod object; an object of any Standard Schema library that can write it as JSON Schema; or `{ jsonSchema,
   * validate? }` for a schema from elsewhere. With `validate` the arguments are checked by that alone, else by the JSON Schema.
   */
  readonly input: Input
  /**
   * Converts arguments that fit the schema to their canonical form. Hooks, approvals, people, the records of the call
   * and the tool all get the returned value, which must be JSON and fit the schema too. It is called several times, the
   * last time just before `run`: a call whose form has changed since it was decided about is not run. The model is told
   * of an error that it throws. Must be quick and idempotent. For a path: relative to its folder, with links resolved.
   */
  readonly canonical?: (input: InputOf<Input>) => InputOf<Input>
  /**
   * Does the work. It may throw or reject (the model gets the message as a tool error) and should stop when `signal`
   * aborts; a result that arrives after an abort or a timeout is dropped. The type of its context declares its
   * dependencies: `run: ({ id }, { deps }: ToolContext<Shop>) => deps.orders.find(id)`.
   *
   * Without it a client carries the calls out, such as the web page that a person looks at: a call waits, however long,
   * for `agent.decide(key, { result })` or `{ error }`, here, through `escapement/client` or AG-UI.
   */
  readonly run?: (
    input: InputOf<Input>,
    context: ToolContext<Deps, z.input<Receipt>>,
  ) => z.input<Output> | Promise<z.input<Output>>
  /**
   * Schema of the value that `run` returns. The parsed value is in `tool.end.data`, for the application. A value that
   * does not fit is an error that the model reads.
   */
  readonly output?: Output
  /**
   * Converts the value to the form that the model reads, as `run` may return it without this: `({ id }) => \`Saved as
   * ${id}.\``. The value itself is in `tool.end.data`, and the model never sees it. If it throws, the model reads the value.
   */
  toModel?(value: z.output<Output>): ToolOutput | Promise<ToolOutput>
  /**
   * Lets a successful call end the run, as its answer, unless somebody has steered or another call that could have ended it failed:
   * `true`, which the description tells the model, or a function of the value and the arguments. A function that throws means no.
   */
  readonly endsRun?: true | ((value: z.output<Output>, input: InputOf<Input>) => boolean)
  /** Makes calls wait for `agent.decide`: `true`, or a predicate on the input. A predicate that throws means yes. */
  readonly needsApproval?: boolean | ((input: InputOf<Input>, context: RunContext<Deps>) => boolean | Promise<boolean>)
  /**
   * Checks whether a call that waits for an approval can succeed at all, just before a person is asked: an edit whose old text is
   * not in the file cannot. The model reads the error that it throws, and nobody is asked. It changes nothing, and `run` checks
   * again, because things may have changed by then. It has `timeoutMs`, at most a minute; without an answer the person is asked.
   */
  check?(
    input: InputOf<Input>,
    context: Pick<ToolContext<Deps>, keyof RunContext | 'closeWith' | 'redact'>,
  ): void | Promise<void>
  /**
   * Returns the subject of a call, so that rules of `permissions` can have patterns for it: `edit_file(src/**)` for `{ path }`, relative to
   * its folder as `canonical` spells it; `run_command(npm run *)` for `{ command }`, a line for a shell; `fetch(example.com/docs/**)` for `{
   * url }`; `{ text }` for anything else. Returns several if there are several; all of them must then be allowed. Quick, without effects.
   */
  readonly subject?: (input: InputOf<Input>) => Subject | readonly Subject[]
  /** Milliseconds before the call is aborted; default 600,000; `Infinity` for no timeout. */
  readonly timeoutMs?: number
  /** Maximum number of characters of text output for the model. The middle of a longer text is replaced by a marker. Default 30,000. */
  readonly maxOutputChars?: number
  /**
   * Effects of a call, which decide what happens after a crash in the middle of it: calls with `'none'` (only reads) and `'idempotent'`
   * (takes effect once per `key`) run again; those with `'reversible'` and `'irreversible'`, the default, do not, and the model is told
   * that it is not known whether it happened. Calls of an irreversible tool, and those of a reversible one that were not undone, stay
   * visible to the model, one line each, when their step is hidden.
   */
  readonly effects?: ToolEffects
  /**
   * Undoes a call that a revert with `undo` abandons. Required for `effects: 'reversible'`. It has the tool's `timeoutMs`, at most a minute. It may
   * be called again after a crash, so it must first check that nothing has changed since the call. If it throws, the error is reported as the reason
   * why the call stands; it should then have changed nothing.
   */
  undo?(context: UndoContext<InputOf<Input>, z.output<Receipt>, Deps>): void | Promise<void>
  /** Schema of the receipt that `run` keeps for `undo`. It checks the receipt when it comes back from the log. Default: anything. */
  readonly receipt?: Receipt
  /** Set if it polls for something outside, so that repeated calls are no stall (`braking.stall`). Default `false`. */
  readonly polls?: boolean
  /**
   * Set if its calls work in the background: the model gets an id at once, and the result later, as a message. `'choice'`: only calls
   * whose field `background`, which is added to the schema, is true. `timeoutMs` defaults to an hour then, and `pin` does nothing.
   */
  readonly background?: true | 'choice'
  /**
   * Ends anything that a call in the background has left, as noted with `leaves`, when its process died. The agent
   * continues after it, or after 10 s. It must end nothing else, such as a later process with the same number.
   */
  cleanUp?(left: unknown): void | Promise<void>
  /** Set if a call in the background continues when its branch is reverted; else it ends with the branch. */
  readonly survives?: true
}

const isFunction = (value: unknown): boolean => typeof value === 'function'

const zodSchema = () =>
  z.custom((value) => typeof value === 'object' && value !== null && '_zod' in value, 'give a zod schema')

const checkOptions = optionsCheck(
  {
    name: () => z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'use 1 to 64 letters, digits, "_" or "-"'),
    description: () => z.string().min(1, 'describe the tool: the model chooses by this'),
    input: () => z.custom<object>(isToolSchema, { error: ({ input }) => notASchema(input) }),
  },
  {
    run: () => z.custom(isFunction, 'give a function'),
    canonical: () => z.custom(isFunction, 'give a function'),
    needsApproval: () => z.union([z.boolean(), z.custom(isFunction, 'give a function')]),
    check: () => z.custom(isFunction, 'give a function'),
    subject: () => z.custom(isFunction, 'give a function'),
    timeoutMs: () => z.union([z.number().positive(), z.literal(Infinity)]),
    maxOutputChars: () => z.int().min(100),
    effects: () => z.enum(['none', 'idempotent', 'reversible', 'irreversible']),
    undo: () => z.custom(isFunction, 'give a function'),
    receipt: () => zodSchema(),
    polls: () => z.boolean(),
    output: () => zodSchema(),
    toModel: () => z.custom(isFunction, 'give a function'),
    ...backgroundSchemas,
    endsRun: () => z.union([z.literal(true), z.custom(isFunction)], 'give true or a function'),
  },
)

/** Defines a tool; the main entry's version in `packages/schemas` also takes JSON Schemas. @throws RuntimeError `INVALID_DEFINITION` */
export function defineTool<
  const Input extends ToolSchema,
  const Receipt extends z.ZodType = z.ZodUnknown,
  Deps = unknown,
  const Name extends string = string,
  const Output extends z.ZodType = z.ZodUnknown,
>(options: ToolOptions<Input, Receipt, Deps, Name, Output>): Tool<Deps, Name, SentTo<Input>, DataOf<z.output<Output>>> {
  const label = labelOf('Tool', options)
  const wrong = checkOptions(options) ?? wrongInUndo(options) ?? wrongInBackground(options)
  if (wrong !== undefined) throw new RuntimeError('INVALID_DEFINITION', `${label}: ${wrong}.`)
  return toolOf(options, checkedChoice(options, readSchema(options.input, label), label))
}

const endsRunText = 'A call that succeeds ends your work: its result is your answer.'

/** Creates the tool from checked options. */
export function toolOf<Deps, Name extends string, Input>(
  options: ToolOptions<ToolSchema, z.ZodType, Deps, Name, z.ZodType>,
  schema: ReadSchema,
): Tool<Deps, Name, Input, never> {
  const whole = options.canonical === undefined ? schema : inOneForm(schema, options.canonical)
  const { inputSchema, parse, finish } = withChoice(options, whole)
  const approval = options.needsApproval ?? false
  const conclude = concludeOf(options)
  const background = backgroundWork(options)
  return Object.freeze({
    name: options.name,
    description: options.endsRun === true ? `${options.description} ${endsRunText}` : options.description,
    inputSchema,
    timeoutMs: options.timeoutMs ?? 600_000,
    maxOutputChars: options.maxOutputChars ?? 30_000,
    effects: options.effects ?? 'irreversible',
    polls: options.polls ?? false,
    parse,
    needsApproval:
      typeof approval === 'function' ? finishedBefore(finish, approval) : approval ? alwaysAsks : neverAsks,
    ...(options.check === undefined ? {} : { check: finishedBefore(finish, options.check) }),
    ...(options.subject === undefined ? {} : { subject: finishedNow(finish, options.subject) }),
    run: options.run === undefined ? runsElsewhere(options.name) : finishedBefore(finish, options.run),
    ...(conclude === undefined ? {} : { conclude }),
    ...(options.endsRun === undefined ? {} : { endsRun: true }),
    ...(background === undefined ? {} : { background }),
    ...(options.run === undefined ? { external: true } : {}),
    ...(options.canonical === undefined ? {} : { isCanonical: true }),
    ...(options.undo === undefined
      ? {}
      : // By then a link may lead elsewhere: what the call did is in its receipt.
        { undo: checkedUndo(options.undo as UndoOption, withChoice(options, schema), options.receipt) }),
  })
}

/** Returns a schema that converts arguments to their canonical form; for asynchronous checks, once they are complete. */
function inOneForm(schema: ReadSchema, canonical: (input: never) => unknown): ReadSchema {
  const formed = (value: unknown): unknown => canonical(value as never)
  return {
    inputSchema: schema.inputSchema,
    parse: (input) => {
      const parsed = schema.parse(input)
      if (!parsed.ok || schema.isWaiting?.(parsed.value) === true) return parsed
      try {
        return { ok: true, value: formed(parsed.value) }
      } catch (thrown) {
        return { ok: false, message: messageOf(thrown) }
      }
    },
    finish: (value) => {
      const finished = schema.finish(value)
      return finished instanceof Promise ? finished.then(formed) : finished
    },
  }
}

/** Returns a function of the arguments that runs once their check is complete, at once if the check is synchronous. */
const finishedBefore =
  <Context, Result>(finish: ReadSchema['finish'], run: (input: never, context: Context) => Result | Promise<Result>) =>
  (input: unknown, context: Context): Result | Promise<Result> => {
    const finished = finish(input)
    return finished instanceof Promise
      ? finished.then((value) => run(value as never, context))
      : run(finished as never, context)
  }

/** Returns a function of arguments whose check is synchronous; it throws for others. */
const finishedNow =
  <Result>(finish: ReadSchema['finish'], say: (input: never) => Result) =>
  (input: unknown): Result => {
    const finished = finish(input)
    if (finished instanceof Promise) {
      finished.catch(() => {})
      throw new Error('its arguments are still being checked')
    }
    return say(finished as never)
  }

const runsElsewhere = (name: string) => (): never => {
  throw new Error(`A client carries out the calls of "${name}"; it has no "run".`)
}

/** Predicate of a tool that never asks. Compared by identity, so that a tool that never needs an approval costs no preparation. */
export const neverAsks = (): boolean => false
export const alwaysAsks = (): boolean => true
