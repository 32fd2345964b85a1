import type { ChildHosts } from '../children/childHosts.ts'
import { Children } from '../children/children.ts'
import { roomFor } from '../children/spawnChild.ts'
import type { TreeAgent, TreeTotals } from '../children/treeAgent.ts'
import { addSpent } from '../../log/spent.ts'
import type { Spent } from '../../protocol/records.ts'
import { usedBy, type Life } from '../children/child.ts'
import { waitingCalls } from './agentTree.ts'

const nobody: readonly never[] = Object.freeze([])

let changes = 0

/** Place of one agent in its tree: its sub-agents, and the watchers of changes. */
export class Family {
  readonly #agent: TreeAgent
  readonly #hosts: ChildHosts
  /** The agent's sub-agents; `undefined` if there were none. */
  #children: Children | undefined
  /** Number that changes with each change of the agent or of those below it, and that no other agent of the process has. */
  version = (changes += 1)
  #totals: { readonly version: number; readonly totals: TreeTotals } | undefined
  /** Functions to call after changes; `undefined` until the first watcher. */
  #watchers: Set<() => void> | undefined

  constructor(agent: TreeAgent, hosts: ChildHosts) {
    this.#agent = agent
    this.#hosts = hosts
  }

  /** Notes that something may have changed, and tells the watchers. */
  changed(): void {
    this.version = changes += 1
    this.#agent.parent?.family.changed()
    for (const look of this.#watchers ?? nobody) look()
  }

  /** Calls `look` after each change of the agent or of those below it, perhaps in the middle of a step. Returns a function that ends the watch. */
  watch(look: () => void): () => void {
    const watchers = (this.#watchers ??= new Set())
    watchers.add(look)
    return () => watchers.delete(look)
  }

  /** Totals of the agent and of every live agent below it. */
  get totals(): TreeTotals {
    if (this.#totals?.version !== this.version)
      this.#totals = { version: this.version, totals: totalsOf(this.#agent, this.#children?.running ?? nobody) }
    return this.#totals.totals
  }

  /** The agent's sub-agents, live or about to start. */
  get children(): Children {
    return (this.#children ??= new Children(this.#agent, this.#hosts))
  }

  /** The same as `children`, but `undefined` if there were none. */
  get known(): Children | undefined {
    return this.#children
  }

  /** Drops the data about sub-agents, when the agent is unloaded without a live one. */
  forget(): void {
    this.#children = undefined
    this.#totals = undefined
  }

  /** The agent's live sub-agents, oldest first. */
  get live(): readonly TreeAgent[] {
    return this.#children?.running.map(({ host }) => host) ?? nobody
  }

  /** Living sub-agents without incognito ones, unless the agent is incognito itself. */
  get listed(): readonly TreeAgent[] {
    const all = this.live
    return this.#agent.incognito === undefined && all.some(isIncognito)
      ? all.filter((child) => !isIncognito(child))
      : all
  }

  /** Number of further sub-agents that the agent may have alive. */
  get room(): number {
    return roomFor(this.#agent, this.#children)
  }

  /** Maximum depth of the tree, which its root decides. */
  get maxDepth(): number {
    return this.#agent.parent?.family.maxDepth ?? this.#agent.view.definition.maxDepth
  }

  /** Resolves once all sub-agents that are being opened, and those below them, are ready. */
  async ready(): Promise<void> {
    await this.#children?.ready()
  }

  /** Resolves once the logs of the sub-agents are free, after the agent was released or has ended; `undefined` if it never had any. */
  released(): Promise<void> | undefined {
    return this.#children?.released()
  }
}

const isIncognito = ({ incognito }: TreeAgent): boolean => incognito === true

const nothing: readonly never[] = Object.freeze([])

/** Totals of an agent at rest without sub-agents. */
const noTotals: TreeTotals = Object.freeze({ waiting: nothing, uncounted: undefined })

/**
 * Returns the totals of an agent from its sub-agents' totals, without looking further down. Calls that wait in an
 * incognito sub-agent are left out unless the agent is incognito too.
 */
function totalsOf(
  { machine, incognito }: Pick<TreeAgent, 'machine' | 'incognito'>,
  lives: readonly Life[],
): TreeTotals {
  const waiting = waitingCalls(machine.context)
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
