import { z } from 'zod'
import type { AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import type { EntryDeps } from '../../../src/actors/define/subAgents.ts'
import type { Agent } from '../../../src/runtime/agents/agent.ts'
import type { Content } from '../../../src/protocol/text/saidContent.ts'
import { lazily } from '../../../src/protocol/lazily.ts'
import type { PlainBlock } from '../../../src/protocol/messages.ts'
import { askJudge } from './askJudge.ts'
import { atMost } from './atMost.ts'
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
import { cheapest, chosenBy, judgeAgent, judgeSchema, type Judge } from './judge.ts'

export interface ParallelOptions<Deps = unknown> extends GroupOptions<Deps> {
  /** Chooser of the best answer. Default: none, and the caller compares the results. */
  readonly judge?: Judge | undefined
  /**
   * Number of branches that run at once. The others wait, and each is begun and closed in its turn. Default: all at
   * once, at most 100.
   */
  readonly concurrency?: number | undefined
}

export interface ParallelResult<out Output = unknown> extends GroupSpent {
  /** The chosen branch; `null` without a judge, if no branch ended well, or if the group was aborted first. */
  readonly winner: Branch<Output> | null
  /** Branches in the order of the entries. Empty if the group was aborted before they started. */
  readonly branches: readonly Branch<Output>[]
  /** Indexes of entries that were never begun because the group ended first. Only with `concurrency`, and missing if all were begun. */
  readonly notBegun?: readonly number[]
  /** Id of the session of the judging model, if one was asked. */
  readonly judgeId?: string
}

const optionsSchema = lazily(() =>
  groupOptionsSchema().extend({ judge: judgeSchema().optional(), concurrency: z.int().positive().optional() }),
)

/**
 * Gives the same prompt to several agents at once and lets a judge choose. A branch that fails is a result like any other. If only one ended
 * well, no model is asked. `usage` and `costUsd` cover all branches and the judge.
 *
 * @throws RuntimeError before anything is started: `INVALID_OPTION`, `INVALID_DEFINITION`, `INVALID_CONTENT`, `CHILD_REFUSED` (more than the
 * agent may have); later, with every agent closed: `JUDGE_FAILED`, and errors of `spawn`.
 *
 * @example
 * ```ts
 * const { winner, costUsd } = await parallel(agent, [cheap, careful], 'Fix the test', { judge: 'cheapest' })
 * if (winner !== null) console.log(winner.definition, winner.result.text, costUsd)
 * ```
 */
export function parallel<const Entries extends readonly GroupEntry[]>(
  host: GroupHost,
  entries: Entries,
  prompt: Content,
  options?: ParallelOptions<EntryDeps<Entries[number]>>,
): Promise<ParallelResult<OutputIn<Entries[number]>>>
export async function parallel(
  host: GroupHost,
  entries: readonly GroupEntry[],
  prompt: Content,
  options: ParallelOptions = {},
): Promise<ParallelResult> {
  checkOptions('parallel', optionsSchema, host, options)
  const { judge, limits, signal, keep = false, concurrency } = options
  // Those that are kept are alive together at the end.
  checkEntries('parallel', host, entries, concurrency !== undefined && !keep)
  const task = checkContent('parallel', prompt)
  const judging = judgeAgent(judge)
  const alive = keep ? entries.length : Math.min(concurrency ?? Infinity, entries.length)
  checkRoom('parallel', host, alive + (keep && judging !== null ? 1 : 0))
  const agents = new GroupAgents(host, { signal, deps: options.deps })
  const won: { first: Branch | null } = { first: null }
  let hasFailed = false
  const ask = async (member: Agent): Promise<Branch> => {
    const branch = await agents.ask(member, prompt, limits)
    if (judge === 'first' && won.first === null && endedWell(branch)) {
      won.first = branch
      agents.abortOthers(member)
    }
    if (!keep) await agents.close(member)
    return branch
  }
  try {
    const isOver = (): boolean => hasFailed || agents.isAborted || won.first !== null
    const failed = (): void => {
      hasFailed = true
      agents.abortOthers()
    }
    const begun =
      concurrency === undefined
        ? await together(agents, entries, ask)
        : await inTurn(agents, entries, { concurrency, ask, isOver, failed })
    const branches = begun.filter((branch) => branch !== undefined)
    const candidates = branches.filter(endedWell)
    const chosen = await choose(agents, candidates, { judge, judging, task, first: won.first })
    const { winner, judgeId, spent } = chosen
    if (keep) agents.keep(judge === undefined ? candidates : candidates.filter((one) => one === winner))
    const used = [...branches.map(({ result }) => result), ...(spent === undefined ? [] : [spent])]
    const notBegun = begun.flatMap((branch, index) => (branch === undefined ? [index] : []))
    const left = notBegun.length === 0 ? {} : { notBegun }
    return { winner, branches, ...left, ...(judgeId === undefined ? {} : { judgeId }), ...spentBy(used) }
  } finally {
    await agents.closeAll()
  }
}

/** Spawns all agents before any is prompted. */
async function together(
  agents: GroupAgents,
  entries: readonly GroupEntry[],
  ask: (member: Agent) => Promise<Branch>,
): Promise<(Branch | undefined)[]> {
  const members = agents.isAborted ? [] : await agents.openAll(entries)
  return agents.isAborted ? [] : Promise.all(members.map(ask))
}

/** Begins the next branch whenever one has ended, until the group is over. */
function inTurn(
  agents: GroupAgents,
  entries: readonly GroupEntry[],
  {
    concurrency,
    ask,
    ...over
  }: {
    readonly concurrency: number
    readonly ask: (member: Agent) => Promise<Branch>
    readonly isOver: () => boolean
    readonly failed: () => void
  },
): Promise<(Branch | undefined)[]> {
  const run = async (entry: GroupEntry): Promise<Branch | undefined> => {
    const member = await agents.open(entry)
    return over.isOver() ? undefined : ask(member)
  }
  return atMost(concurrency, entries, run, over)
}

interface Choice {
  readonly winner: Branch | null
  readonly judgeId?: string
  readonly spent?: GroupSpent
}

async function choose(
  agents: GroupAgents,
  candidates: readonly Branch[],
  by: {
    readonly judge: Judge | undefined
    readonly judging: AgentDefinition | null
    readonly task: readonly PlainBlock[]
    readonly first: Branch | null
  },
): Promise<Choice> {
  const { judge, judging, task, first } = by
  if (judge === 'first') return { winner: first }
  if (judge === undefined || agents.isAborted || candidates.length === 0) return { winner: null }
  if (judge === 'cheapest') return { winner: cheapest(candidates) }
  if (typeof judge === 'function') return { winner: await agents.unlessAborted(chosenBy(judge, candidates)) }
  if (judging === null || candidates.length === 1) return { winner: candidates[0]! }
  return askJudge(agents, judging, { task, candidates })
}

/**
 * Gives the same prompt to several agents at once; the first to end well wins and the others are aborted. The same as `parallel`
 * with the judge `'first'`, and throws as it does.
 *
 * @example
 * ```ts
 * const { winner } = await race(runtime, [fast, sure], 'What is the capital of France?')
 * if (winner !== null) console.log(`${winner.definition}: ${winner.result.text}`)
 * ```
 */
export function race<const Entries extends readonly GroupEntry[]>(
  host: GroupHost,
  entries: Entries,
  prompt: Content,
  options?: GroupOptions<EntryDeps<Entries[number]>>,
): Promise<ParallelResult<OutputIn<Entries[number]>>>
export async function race(
  host: GroupHost,
  entries: readonly GroupEntry[],
  prompt: Content,
  options: GroupOptions = {},
): Promise<ParallelResult> {
  checkOptions('race', groupOptionsSchema, host, options)
  return parallel(host, entries, prompt, { ...options, judge: 'first' })
}
