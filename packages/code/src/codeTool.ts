import { z } from 'zod'
import { DeferredTools, type DeferredEntry } from '../../../src/actors/parts/deferred/deferred.ts'
import { checkedBy, RuntimeError } from '../../../src/protocol/errors.ts'
import { lazily } from '../../../src/protocol/lazily.ts'
import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import { furthestMs } from '../../../src/actors/parts/schedules/scheduling.ts'
import type { CodeEngine } from './engine.ts'
import { quickJsEngine } from './quickJsEngine.ts'
import { scriptTool, type CodeLimits } from './scriptTool.ts'

export interface CodeToolOptions {
  /** Name of the tool. Default `run_code`. */
  readonly name?: string
  /** True if only scripts can call the tools. By default the model can call them itself too. */
  readonly only?: boolean
  readonly limits?: Partial<CodeLimits>
  /** Maximum characters of declarations in the description. Further tools are only named, and declared by `tools.$find`. Default 20,000. */
  readonly declareChars?: number
  /** Engine that runs the scripts. Default: QuickJS in a worker thread, one for all agents of the process. */
  readonly engine?: CodeEngine
}

const count = () => z.int().positive()
const optionsSchema = lazily(() =>
  onlyFields({
    name: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}$/, 'use 1 to 64 letters, digits, "_" or "-"')
      .default('run_code'),
    only: z.boolean().default(false),
    limits: onlyFields({
      cpuMs: count().max(600_000).default(1_000),
      bytes: z
        .int()
        .min(2 ** 20, 'a script needs at least 1 MiB')
        .max(2 ** 31)
        .default(2 ** 26),
      calls: count().max(10_000).default(200),
      atOnce: count().max(100).default(16),
      valueChars: count()
        .max(2 ** 22)
        .default(2 ** 20),
      sourceChars: count().max(1_000_000).default(64_000),
      ms: count().default(600_000),
      sleepMs: count()
        .max(furthestMs)
        .default(30 * 86_400_000),
    }).prefault({}),
    declareChars: z.int().min(0).max(1_000_000).default(20_000),
    engine: z
      .custom<CodeEngine>((value) => typeof (value as CodeEngine | undefined)?.open === 'function', 'give a CodeEngine')
      .optional(),
  }),
)

/** The default engine: one thread for the scripts of all agents. */
const sharedEngine = lazily(quickJsEngine)

/**
 * Lets a model call tools from scripts: an entry of an agent's `tools` with the tools in it and one more, `run_code`. Only what a script prints and
 * returns reaches the model. Scripts call the sub-agents of its agent too; the list may be empty if there are any. A call of a script is a call like any other: hooks, approvals, records, undo, front ends have it. After a crash the
 * script runs again and is given what it was given before, so nothing irreversible happens twice.
 *
 * @throws RuntimeError `INVALID_DEFINITION`; `PACKAGE_MISSING` without the package `quickjs-wasi`.
 *
 * @example
 * ```ts
 * import { codeTool } from 'escapement/code'
 *
 * const coder = defineAgent({ name: 'coder', model, tools: [codeTool(workspaceTools('.'), { only: true })] })
 * ```
 */
export function codeTool<const Entry extends DeferredEntry>(
  tools: readonly Entry[],
  options: CodeToolOptions = {},
): DeferredTools<Entry> {
  const refuse = (what: string): never => {
    throw new RuntimeError('INVALID_DEFINITION', `codeTool: ${what}.`)
  }
  if (!Array.isArray(tools)) return refuse('give a list of tools that scripts can call')
  if (tools.some((entry: unknown) => entry instanceof DeferredTools)) return refuse('a group cannot be in a group')
  const { engine, only, ...settings } = checkedBy(optionsSchema(), options, 'codeTool', 'INVALID_DEFINITION')
  const running = engine ?? sharedEngine()
  return new DeferredTools([...tools], undefined, {
    isOnly: only,
    make: (members, agents) => {
      // Sub-agents that a function names are not known yet.
      if (members.length === 0 && agents?.length === 0)
        return refuse('give a list of tools that scripts can call, or the agent sub-agents')
      return scriptTool(members, agents, { ...settings, engine: running })
    },
  })
}
