import type { AgentDefinition } from '../../actors/agentDefinition.ts'
import type { Content } from '../../protocol/content.ts'
import { lazily } from '../../protocol/lazily.ts'
import type { PlainBlock } from '../../protocol/messages.ts'
import { askJudge } from './askJudge.ts'
import {
  endedWell,
  spentBy,
  type Branch,
  type GroupEntry,
  type GroupHost,
  type GroupOptions,
  type GroupSpent,
} from './branch.ts'
import { checkContent, checkEntries, checkOptions, checkRoom, groupOptionsSchema } from './checkGroup.ts'
import { GroupAgents } from './groupAgents.ts'
import { cheapest, chosenBy, judgeAgent, judgeSchema, type Judge } from './judge.ts'

export interface ParallelOptions extends GroupOptions {
  /** Who chooses; default: no one, and the caller compares the results. */
  readonly judge?: Judge | undefined
}

export interface ParallelResult extends GroupSpent {
  /** The chosen branch; `null` without a judge, if no branch ended well, or if the group was aborted first. */
  readonly winner: Branch | null
  /** In the order of the entries; empty if the group was aborted before they started. */
  readonly branches: readonly Branch[]
  /** The session of the model that chose, if one was asked. */
  readonly judgeId?: string
}

const optionsSchema = lazily(() => groupOptionsSchema().extend({ judge: judgeSchema().optional() }))

/**
 * Gives the same prompt to several agents at once and lets a judge choose. A branch that fails is a result like any other. If only
 * one ended well, no model is asked. `usage` and `costUsd` cover all branches and the judge.
 *
 * @throws RuntimeError before anything is started: `INVALID_OPTION`, `INVALID_DEFINITION`, `INVALID_CONTENT`, `CHILD_REFUSED` (more
 * than the agent may have); later, with every agent closed: `JUDGE_FAILED`, and what `spawn` throws.
 *
 * @example
 * ```ts
 * const { winner, costUsd } = await parallel(agent, [cheap, careful], 'Fix the test', { judge: 'cheapest' })
 * if (winner !== null) console.log(winner.definition, winner.result.text, costUsd)
 * ```
 */
export async function parallel(
  host: GroupHost,
  entries: readonly GroupEntry[],
  prompt: Content,
  options: ParallelOptions = {},
): Promise<ParallelResult> {
  checkOptions('parallel', optionsSchema, host, options)
  checkEntries('parallel', host, entries)
  const task = checkContent('parallel', prompt)
  const { judge, limits, signal, keep = false } = options
  const judging = judgeAgent(judge)
  checkRoom('parallel', host, entries.length + (keep && judging !== null ? 1 : 0))
  const agents = new GroupAgents(host, signal)
  try {
    const members = agents.isAborted ? [] : await agents.openAll(entries)
    if (agents.isAborted) return { winner: null, branches: [], ...spentBy([]) }
    const won: { first: Branch | null } = { first: null }
    const branches = await Promise.all(
      members.map(async (member) => {
        const branch = await agents.ask(member, prompt, limits)
        if (judge === 'first' && won.first === null && endedWell(branch)) {
          won.first = branch
          for (const other of members) if (other !== member) agents.abort(other)
        }
        if (!keep) await agents.close(member)
        return branch
      }),
    )
    const candidates = branches.filter(endedWell)
    const chosen = await choose(agents, candidates, { judge, judging, task, first: won.first })
    const { winner, judgeId, spent } = chosen
    if (keep) agents.keep(judge === undefined ? candidates : candidates.filter((one) => one === winner))
    const used = [...branches.map(({ result }) => result), ...(spent === undefined ? [] : [spent])]
    return { winner, branches, ...(judgeId === undefined ? {} : { judgeId }), ...spentBy(used) }
  } finally {
    await agents.closeAll()
  }
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
export async function race(
  host: GroupHost,
  entries: readonly GroupEntry[],
  prompt: Content,
  options: GroupOptions = {},
): Promise<ParallelResult> {
  checkOptions('race', groupOptionsSchema, host, options)
  return parallel(host, entries, prompt, { ...options, judge: 'first' })
}
