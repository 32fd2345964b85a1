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

/** The place of one agent in its tree: its sub-agents, and who is told of changes. */
export class Family {
  readonly #agent: TreeAgent
  readonly #hosts: ChildHosts
  /** `undefined`: it has had none. */
  #children: Children | undefined
  /** Another number after each change of the agent or of those below it, which no other agent of the process has. */
  version = (changes += 1)
  #totals: { readonly version: number; readonly totals: TreeTotals } | undefined
  /** Functions to call after changes; `undefined` until the first watcher. */
  #watchers: Set<() => void> | undefined

  constructor(agent: TreeAgent, hosts: ChildHosts) {
    this.#agent = agent
    this.#hosts = hosts
  }

  /** Called when something may have changed. */
  changed(): void {
    this.version = changes += 1
    this.#agent.parent?.family.changed()
    for (const look of this.#watchers ?? nobody) look()
  }

  /** Calls `look` after each change of the agent or of those below it, perhaps in the middle of a step; returns a function that ends it. */
  watch(look: () => void): () => void {
    const watchers = (this.#watchers ??= new Set())
    watchers.add(look)
    return () => watchers.delete(look)
  }

  /** Totals of the agent and of everything that is alive below it. */
  get totals(): TreeTotals {
    if (this.#totals?.version !== this.version)
      this.#totals = { version: this.version, totals: totalsOf(this.#agent, this.#children?.running ?? nobody) }
    return this.#totals.totals
  }

  /** Its sub-agents, living or about to start. */
  get children(): Children {
    return (this.#children ??= new Children(this.#agent, this.#hosts))
  }

  /** As `children`, if it has had any. */
  get known(): Children | undefined {
    return this.#children
  }

  /** The agent is unloaded, without a living sub-agent. */
  forget(): void {
    this.#children = undefined
    this.#totals = undefined
  }

  /** Its living sub-agents, oldest first. */
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

  /** How many more sub-agents it may have alive. */
  get room(): number {
    return roomFor(this.#agent, this.#children)
  }

  /** How deep the tree may grow; its root decides. */
  get maxDepth(): number {
    return this.#agent.parent?.family.maxDepth ?? this.#agent.view.definition.maxDepth
  }

  /** Resolves once all sub-agents that are being opened, and those below them, are there. */
  async ready(): Promise<void> {
    await this.#children?.ready()
  }

  /** Resolves once the logs of its sub-agents are free, after it was let go or has ended; `undefined`: it never had any. */
  released(): Promise<void> | undefined {
    return this.#children?.released()
  }
}

const isIncognito = ({ incognito }: TreeAgent): boolean => incognito === true

const nothing: readonly never[] = Object.freeze([])

/** Totals of an agent at rest without sub-agents. */
const noTotals: TreeTotals = Object.freeze({ waiting: nothing, uncounted: undefined })

/**
 * Returns the totals of an agent from those of its sub-agents, without looking further down. Calls that wait in an incognito sub-agent are left
 * out unless the agent is incognito too.
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
