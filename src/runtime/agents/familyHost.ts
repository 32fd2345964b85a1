import type { AgentDefinition } from '../../actors/define/agentDefinition.ts'
import { Children } from '../children/children.ts'
import { roomFor } from '../children/spawnChild.ts'
import type { TreeAgent, TreeTotals } from '../children/treeAgent.ts'
import { totalsOf } from '../children/treeTotals.ts'
import type { HostShared } from './hostOptions.ts'
import { MachineHost } from './machineHost.ts'

const nobody: readonly never[] = Object.freeze([])

/** A machine's host with the sub-agents of its agent. */
export abstract class FamilyHost extends MachineHost {
  abstract readonly definition: AgentDefinition
  abstract readonly parent: TreeAgent | undefined
  abstract readonly incognito: true | undefined
  /** The whole of it. */
  protected abstract get self(): TreeAgent
  protected abstract override readonly shared: HostShared
  /** `undefined`: it has had none. */
  protected knownFamily: Children | undefined

  /** Replaced by another object after each change of the agent or of those below it. */
  version: object = {}
  #totals: { readonly version: object; readonly totals: TreeTotals } | undefined

  /** Functions to call after changes; `undefined` until the first watcher. */
  #watchers: Set<() => void> | undefined

  override changed(): void {
    this.version = {}
    this.parent?.changed()
    for (const look of this.#watchers ?? nobody) look()
  }

  watch(look: () => void): () => void {
    const watchers = (this.#watchers ??= new Set())
    watchers.add(look)
    return () => watchers.delete(look)
  }

  get totals(): TreeTotals {
    if (this.#totals?.version !== this.version) {
      const { version, self, knownFamily } = this
      this.#totals = { version, totals: totalsOf(self, knownFamily?.running ?? nobody) }
    }
    return this.#totals.totals
  }

  get clock(): HostShared['clock'] {
    return this.shared.clock
  }

  get random(): HostShared['random'] {
    return this.shared.random
  }

  get redactor(): HostShared['redactor'] {
    return this.shared.redactor
  }

  tellApplication(message: string): void {
    this.shared.sources.warn(message)
  }

  callbackFailed(what: string, thrown: unknown): void {
    const { agentId, definition } = this
    this.shared.callbackFailed(`${what} of agent "${definition.name}"`, thrown, { agentId })
  }

  override wake(): void {
    super.wake()
    if (this.input.restored?.context.reporters?.length) this.family.detached.collect()
  }

  /** Absent while it has none and its model cannot call any. */
  get children(): Children | undefined {
    return this.knownFamily ?? (this.definition.agents.size === 0 ? undefined : this.family)
  }

  /** Its sub-agents, living or about to start. */
  get family(): Children {
    return (this.knownFamily ??= new Children(this.self, this.shared.childHosts))
  }

  /** Its living sub-agents, oldest first. */
  get liveChildren(): readonly TreeAgent[] {
    return this.knownFamily?.running.map(({ host }) => host) ?? nobody
  }

  /** Called when a sub-agent has ended. */
  left(childId: string): void {
    this.knownFamily?.left(childId)
  }

  get listedChildren(): readonly TreeAgent[] {
    const all = this.liveChildren
    return this.incognito === undefined && all.some(isIncognito) ? all.filter((child) => !isIncognito(child)) : all
  }

  get room(): number {
    return roomFor(this.self, this.knownFamily)
  }

  async childrenReady(): Promise<void> {
    await this.knownFamily?.ready()
  }

  childrenReleased(): Promise<void> | undefined {
    return this.knownFamily?.released()
  }

  childGone(childId: string): Promise<void> {
    return this.family.gone(childId)
  }

  /** How deep the tree may grow; its root decides. */
  get maxDepth(): number {
    return this.parent?.maxDepth ?? this.definition.maxDepth
  }
}

const isIncognito = ({ incognito }: TreeAgent): boolean => incognito === true
