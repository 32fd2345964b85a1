import { addSpent } from '../../log/spent.ts'
import type { CallState } from '../../machines/agentTypes.ts'
import type { Pending } from '../../protocol/runs/pending.ts'
import type { Spent } from '../../protocol/records.ts'
import { usedBy, type Life } from './child.ts'
import type { TreeAgent, TreeTotals, WaitingCall } from './treeAgent.ts'

const nothing: readonly never[] = Object.freeze([])

/** Totals of an agent at rest without sub-agents. */
export const noTotals: TreeTotals = Object.freeze({ waiting: nothing, uncounted: undefined })

const kindOf: { readonly [S in CallState['status']]: Pending['kind'] | undefined } = {
  held: 'approval',
  asking: 'question',
  asked: 'question',
  requested: 'call',
  ready: undefined,
  checking: undefined,
  running: undefined,
  paused: undefined,
  settled: undefined,
}

/**
 * Returns the totals of an agent from those of its sub-agents, without looking further down. Calls that wait in an incognito sub-agent are left
 * out unless the agent is incognito too.
 */
export function totalsOf(
  { machine, incognito }: Pick<TreeAgent, 'machine' | 'incognito'>,
  lives: readonly Life[],
): TreeTotals {
  const { calls, run } = machine.context
  const waiting: WaitingCall[] = []
  for (const { key, status, question } of run === null ? nothing : calls) {
    const kind = kindOf[status]
    if (kind !== undefined) waiting.push({ kind, key: kind === 'question' ? question!.key : key })
  }
  let uncounted: Spent | undefined
  const count = (spent: Spent | undefined): void => {
    if (isSome(spent)) uncounted = uncounted === undefined ? spent : addSpent(uncounted, spent)
  }
  for (const life of lives) {
    const { host } = life
    const { totals } = host.family
    if (host.incognito === undefined || incognito !== undefined) waiting.push(...totals.waiting)
    count(usedBy(life))
    count(totals.uncounted)
  }
  return waiting.length === 0 && uncounted === undefined ? noTotals : { waiting, uncounted }
}

const isSome = (spent: Spent | undefined): spent is Spent =>
  spent !== undefined && (spent.turns > 0 || spent.costUsd > 0 || spent.usage.input > 0 || spent.usage.output > 0)
