import { isAgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import type { EntryDeps } from '../../../src/actors/define/subAgents.ts'
import type { Content } from '../../../src/protocol/text/saidContent.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import type { RunStopReason } from '../../../src/protocol/records.ts'
import {
  endedWell,
  spentBy,
  type Branch,
  type GroupEntry,
  type GroupHost,
  type GroupOptions,
  type GroupSpent,
  type OutputIn,
} from './branch.ts'
import { checkContent, checkEntries, checkOptions, checkRoom, groupOptionsSchema } from './checkGroup.ts'
import { GroupAgents } from './groupAgents.ts'

/** Turns one agent's answer into the next one's prompt. If it throws, the pipeline rejects with that. */
export type PromptMapper = (text: string, step: Branch) => Content | Promise<Content>

interface PipelineSteps extends GroupSpent {
  /** The answer of the last agent that ran. `''` if none did. */
  readonly text: string
  /** Results of the agents, in order, up to the one at which the pipeline stopped. */
  readonly steps: readonly Branch[]
}

/** A pipeline in which every agent ended well. */
export interface PipelineDone<out Output = unknown> extends PipelineSteps {
  readonly stopped: null
  /** The last answer as data. `undefined` for an agent without an `output` schema. */
  readonly output: Output
}

/** A pipeline that stopped early. */
export interface PipelineStopped extends PipelineSteps {
  /** The agent at which the pipeline stopped. */
  readonly stopped: PipelineStop
  readonly output?: undefined
}

export type PipelineResult<Output = unknown> = PipelineDone<Output> | PipelineStopped

/** The answer of the last agent. */
type LastOutput<Entries extends readonly unknown[]> = Entries extends readonly [...infer _, infer Last]
  ? OutputIn<Last>
  : OutputIn<Entries[number]>

export interface PipelineStop {
  /** Index of the agent from 0, not counting mappers. The agent never ran if `steps` is no longer than this. */
  readonly index: number
  /** Name of the agent's definition. */
  readonly definition: string
  /** Stop reason of the agent's run: `'aborted'` if it never ran, `'stop'` if its answer was blank and so could not be the next prompt. */
  readonly stopReason: RunStopReason
}

interface Step {
  readonly entry: GroupEntry
  readonly mapper: PromptMapper | undefined
}

/**
 * Gives a prompt to the first agent, its answer to the second, and so on; a function between two agents turns the answer into the next prompt.
 * Stops at the first agent that does not end well, and says which. Only one agent is alive at a time.
 *
 * @throws RuntimeError before anything is started: `INVALID_OPTION`, `INVALID_DEFINITION`, `INVALID_CONTENT`, `CHILD_REFUSED`; later, with
 * every agent closed: `INVALID_CONTENT` of a mapper, and errors of mappers and of `spawn`.
 *
 * @example
 * ```ts
 * const shorten = (text: string) => `Shorten this:\n${text}`
 * const { text, stopped } = await pipeline(agent, [draft, shorten, editor], 'A poem on clocks')
 * console.log(stopped === null ? text : `${stopped.definition} ended with ${stopped.stopReason}`)
 * ```
 */
export function pipeline<const Entries extends readonly (GroupEntry | PromptMapper)[]>(
  host: GroupHost,
  entries: Entries,
  prompt: Content,
  options?: GroupOptions<EntryDeps<Entries[number]>>,
): Promise<PipelineResult<LastOutput<Entries>>>
export async function pipeline(
  host: GroupHost,
  entries: readonly (GroupEntry | PromptMapper)[],
  prompt: Content,
  options: GroupOptions = {},
): Promise<PipelineResult> {
  checkOptions('pipeline', groupOptionsSchema, host, options)
  const plan = planOf(entries)
  checkEntries(
    'pipeline',
    host,
    plan.map(({ entry }) => entry),
  )
  checkContent('pipeline', prompt)
  checkRoom('pipeline', host, 1)
  const { limits, signal, keep = false } = options
  const agents = new GroupAgents(host, { signal, deps: options.deps })
  const steps: Branch[] = []
  const resultOf = (stopped: PipelineStop | null): PipelineResult => {
    const used = spentBy(steps.map(({ result }) => result))
    const { text = '', ...last } = steps.at(-1)?.result ?? {}
    if (stopped !== null) return { text, steps, stopped, ...used }
    return { text, steps, stopped, ...('output' in last ? { output: last.output } : {}), ...used }
  }
  try {
    for (const [index, { entry, mapper }] of plan.entries()) {
      const { name: definition } = definitionOf(entry)
      const last = steps.at(-1)
      const said = last === undefined ? prompt : await agents.unlessAborted(promptAfter(last, mapper))
      if (said === null || agents.isAborted) return resultOf({ index, definition, stopReason: 'aborted' })
      checkContent(`pipeline: the prompt of agent ${index + 1}`, said)
      const agent = await agents.open(entry)
      if (agents.isAborted) return resultOf({ index, definition, stopReason: 'aborted' })
      const step = await agents.ask(agent, said, limits)
      steps.push(step)
      const isLast = index === plan.length - 1
      const isUsable = isLast || plan[index + 1]!.mapper !== undefined || step.result.text.trim() !== ''
      if (!endedWell(step) || !isUsable) return resultOf({ index, definition, stopReason: step.result.stopReason })
      if (isLast && keep) agents.keep([step])
      else await agents.close(agent)
    }
    return resultOf(null)
  } finally {
    await agents.closeAll()
  }
}

const promptAfter = async (last: Branch, mapper: PromptMapper | undefined): Promise<Content> =>
  mapper === undefined ? last.result.text : mapper(last.result.text, last)

const definitionOf = (entry: GroupEntry) => (isAgentDefinition(entry) ? entry : entry.definition)

/** Returns the agents in order, each with the mapper before it. @throws RuntimeError `INVALID_OPTION` */
function planOf(entries: readonly (GroupEntry | PromptMapper)[]): Step[] {
  if (!Array.isArray(entries)) throw new RuntimeError('INVALID_OPTION', 'pipeline takes a list of at least one agent.')
  const plan: Step[] = []
  let mapper: PromptMapper | undefined
  for (const entry of entries as readonly (GroupEntry | PromptMapper)[]) {
    if (typeof entry !== 'function') {
      plan.push({ entry, mapper })
      mapper = undefined
    } else if (plan.length === 0 || mapper !== undefined) throw misplaced()
    else mapper = entry
  }
  if (mapper !== undefined) throw misplaced()
  return plan
}

const misplaced = (): RuntimeError =>
  new RuntimeError('INVALID_OPTION', 'pipeline: a function stands between two agents.')
