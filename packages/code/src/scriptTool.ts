import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { AgentPorts } from '../../../src/actors/agentPorts.ts'
import { BoundCall } from '../../../src/actors/tools/boundCall.ts'
import { defineTool, type AnyTool, type Tool } from '../../../src/actors/tools/defineTool.ts'
import type { InnerCall, InnerCalls, InnerResult } from '../../../src/actors/tools/innerCalls.ts'
import { SourceTool } from '../../../src/actors/tools/sourceTool.ts'
import { isToolSource, type ToolSource } from '../../../src/actors/tools/toolSource.ts'
import { transferName } from '../../../src/actors/tools/transferTool.ts'
import type { SubAgentEntry } from '../../../src/actors/define/subAgents.ts'
import { cloneJson } from '../../../src/protocol/checks/cloneJson.ts'
import { agentsIn, callableAgents, type Callable } from './callables.ts'
import { describeTools } from './declareTools.ts'
import type { CodeEngine, ScriptAnswer, ScriptCall } from './engine.ts'
import { findTools, whyUnknown } from './findTools.ts'
import { runScript, type ScriptOutcome } from './runScript.ts'
import { undoScript } from './undoScript.ts'

/** Name of the call that `sleep` makes. */
const sleepName = '$sleep'

/**
 * Returns the time until which a script sleeps, from the argument of `sleep`: a number of milliseconds, or a time with
 * its offset. A past time counts as now. Pure.
 *
 * @throws Error with the code `INVALID_INPUT`
 */
function dueOf(input: unknown, now: number, mostMs: number): number {
  const { ms, until } = (typeof input === 'object' && input !== null ? input : {}) as {
    readonly ms?: unknown
    readonly until?: unknown
  }
  const due = typeof ms === 'number' && ms >= 0 ? now + Math.ceil(ms) : typeof until === 'string' ? timeIn(until) : NaN
  if (!Number.isFinite(due))
    throw refused('Give sleep a number of milliseconds, a Date, or a time such as "2027-03-01T09:00:00Z".')
  if (due - now > mostMs) throw refused(`That is ${due - now} ms ahead, more than ${mostMs}, the longest sleep.`)
  return Math.max(due, now)
}

/** Parses a time, which needs an offset to be unambiguous. */
const timeIn = (until: string): number => (/(?:Z|[+-]\d\d:?\d\d)$/.test(until) ? Date.parse(until) : NaN)

const refused = (message: string): Error => Object.assign(new Error(message), { code: 'INVALID_INPUT' })

/** Limits of each script. */
export interface CodeLimits {
  /** Milliseconds of computing. Default 1,000. */
  readonly cpuMs: number
  /** Maximum memory in bytes. Default 64 MiB. */
  readonly bytes: number
  /** Maximum number of calls. Default 200. */
  readonly calls: number
  /** Maximum number of calls under way at once. The others wait. Default 16. */
  readonly atOnce: number
  /** Maximum length of each value going in or out, in characters of JSON. Default 1,048,576. */
  readonly valueChars: number
  /** Maximum length of the script's text in characters. Default 64,000. */
  readonly sourceChars: number
  /** Milliseconds from start to end, without the time spent waiting for people, agents or sleeps. Default 600,000. */
  readonly ms: number
  /** Maximum sleep in milliseconds. Default: 30 days. */
  readonly sleepMs: number
}

interface ScriptSettings {
  readonly name: string
  readonly limits: CodeLimits
  readonly declareChars: number
  readonly engine: CodeEngine
}

const printChars = 64_000

/** Makes the tool that runs scripts, which can call the members of a group and the agent's sub-agents. */
export function scriptTool(
  members: readonly (AnyTool | ToolSource)[],
  agents: readonly SubAgentEntry[] | undefined,
  settings: ScriptSettings,
): Tool {
  const { name, limits, declareChars } = settings
  const tools = members.filter((member): member is AnyTool => !isToolSource(member))
  const sources = members.filter(isToolSource).map(({ source }) => source)
  const names = new Set(tools.map((tool) => tool.name))
  const isMember = (tool: AnyTool): boolean =>
    names.has(tool.name) || (tool instanceof SourceTool && sources.includes(tool.offer.source))
  const tool = defineTool({
    name,
    description: describeTools({
      tools,
      agents: agents && agentsIn(agents),
      sources,
      maxChars: declareChars,
    }),
    input: z.object({ code: z.string().min(1).max(limits.sourceChars).describe('The script.') }),
    // It knows what it did: the effects are those of its calls.
    effects: 'idempotent',
    timeoutMs: limits.ms,
    run: ({ code }) =>
      new BoundCall(async ({ definition, clock }: AgentPorts, signal, calls) => {
        // Said by what would carry them out.
        const apart = new Set([...definition.agents.keys(), ...[...definition.handoffs.keys()].map(transferName)])
        const known = [
          ...[...definition.tools.values()].filter(isMember),
          ...callableAgents(definition.agents.values()),
        ]
        const made = calls()
        const ends = await made.ends()
        made.printed('')
        const outcome = await run(code, { settings, tools: known, apart, calls: made, ends, now: clock.now(), signal })
        made.printed(undefined)
        return told(outcome)
      }),
  })
  return Object.freeze({ ...tool, undo: undoScript })
}

interface Running {
  readonly settings: ScriptSettings
  readonly tools: readonly Callable[]
  /** Names of existing tools and sub-agents that no script can call. */
  readonly apart: ReadonlySet<string>
  readonly calls: InnerCalls
  /** Results from earlier executions. */
  readonly ends: readonly InnerResult[]
  readonly now: number
  readonly signal: AbortSignal
}

function run(text: string, { settings, tools, apart, calls, ends, now, signal }: Running): Promise<ScriptOutcome> {
  const { limits, engine } = settings
  const begun = calls.begun ?? now
  const names = new Set(tools.map(({ name }) => name))
  const callOf = (call: ScriptCall): InnerCall => {
    const { n, name } = call
    const input = inputOf(call.json)
    if (name === sleepName)
      return {
        n,
        name,
        input,
        begun,
        print: calls.print(input),
        maxChars: limits.valueChars,
        due: (at) => dueOf(input, at, limits.sleepMs),
      }
    const own = apart.has(name) && !names.has(name) ? undefined : ownWork(call, input, tools, names)
    return { n, name, input, begun, print: calls.print(input), maxChars: limits.valueChars, ...(own && { own }) }
  }
  return runScript({
    engine,
    script: {
      text,
      tools: [...names],
      seed: createHash('sha256').update(calls.key).digest('hex'),
      at: begun,
      limits: { ...limits, printChars },
    },
    atOnce: limits.atOnce,
    known: { starts: new Map(calls.starts.map((start) => [start.n, start])), ends: ends.map(answerOf) },
    print: (json) => calls.print(inputOf(json)),
    over: () => calls.over(),
    printed: (all) => calls.printed(all),
    idle: (isIdle) => calls.idle(isIdle),
    call: (call, ended) => calls.call(callOf(call), (result) => ended(answerOf(result))),
    signal,
  })
}

/** Placeholder for arguments nested too deeply for a log. */
const tooDeep = '[nested too deeply]'

function inputOf(json: string): unknown {
  try {
    return cloneJson(JSON.parse(json))
  } catch {
    return tooDeep
  }
}

/** Returns the work of a call that is none of a tool. */
function ownWork(
  { name }: ScriptCall,
  input: unknown,
  tools: readonly Callable[],
  names: ReadonlySet<string>,
): (() => unknown) | undefined {
  if (input === tooDeep) return () => refuse('INVALID_INPUT', 'The arguments are nested too deeply.')
  if (name === '$find') return () => findTools(tools, input)
  if (!names.has(name)) return () => refuse('UNKNOWN_TOOL', whyUnknown(tools, name))
  return undefined
}

function refuse(code: string, message: string): never {
  throw Object.assign(new Error(message), { code })
}

const answerOf = ({ n, at, value, error }: InnerResult): ScriptAnswer => ({
  n,
  at,
  result:
    error === undefined
      ? { ok: true, json: JSON.stringify(value ?? null) }
      : { ok: false, message: error.message, code: error.code },
})

/** Returns the text for the model. Throws it for a script that failed. */
function told(outcome: ScriptOutcome): string {
  const printed = outcome.printed.trimEnd()
  if (!outcome.ok) {
    const before = printed === '' ? '' : `\nIt had printed:\n${printed}`
    throw new Error(`The script failed. ${outcome.error}${before}`)
  }
  const { json } = outcome
  const value: unknown = json === undefined ? undefined : JSON.parse(json)
  const returned = typeof value === 'string' ? value : (json ?? '')
  return [printed, returned].filter((part) => part !== '').join('\n') || '[It printed nothing and returned nothing.]'
}
