import { afterChange, namesOf, type TakenTools } from '../../conversation/tree/takenTools.ts'
import type { SourceInfo, ToolsChange } from '../../protocol/toolsChange.ts'
import type { SourcesLook } from '../agentPorts.ts'
import type { AgentDefinition } from './agentDefinition.ts'
import type { Cancellation } from '../timing/cancellation.ts'
import { definedAgent } from './definedAgent.ts'
import { withAddendum, withPossibleChoice } from '../turn/modelSettings.ts'
import { irreversibleNames, pollingNames, reversibleNames } from './toolNames.ts'
import { changeOf, isReserved } from './changedTools.ts'
import type { AnyTool } from '../tools/defineTool.ts'
import type { Listing, OpenSource } from '../tools/openSource.ts'
import { SourceTool } from '../tools/sourceTool.ts'
import { deferredOf, withDeferred } from '../parts/deferred/deferredOffers.ts'
import type { ToolSource } from '../tools/toolSource.ts'

/** Returns the connection of a source, which is opened when it is first asked for its tools. */
export type Connect = (source: ToolSource) => OpenSource

/** The tools that one agent took from sources according to its records, compared with those that the sources have now. */
export class SourcedTools {
  readonly #base: () => AgentDefinition
  readonly #connect: Connect
  readonly #folded: { readonly state: TakenTools }
  #made:
    | { readonly base: AgentDefinition; readonly taken: TakenTools; readonly definition: AgentDefinition }
    | undefined
  /** Objects that were looked at last, when nothing had changed. */
  #seen: readonly unknown[] = []
  /** State of each source when it was last announced, by the source's name. */
  readonly #told = new Map<string, string>()

  /**
   * `base`: returns the agent's definition without the tools of sources, which differs once the conversation was handed
   * over. `folded`: the tools that were taken, according to its records.
   */
  constructor(base: () => AgentDefinition, connect: Connect, folded: { readonly state: TakenTools }) {
    this.#base = base
    this.#connect = connect
    this.#folded = folded
  }

  get #taken(): TakenTools {
    return this.#folded.state
  }

  /** The agent's definition with the tools taken according to its records. The same object as long as those are the same. */
  get definition(): AgentDefinition {
    const base = this.#base()
    const taken = this.#taken
    if (this.#made?.base !== base || this.#made.taken !== taken)
      this.#made = { base, taken, definition: withTaken(base, taken, this.#connect) }
    return this.#made.definition
  }

  /** State of the agent's sources. Opens none. */
  get sources(): SourceInfo[] {
    return this.#base().toolSources.map((source) => infoOf(source.source, this.#connect(source).listing(), this.#taken))
  }

  /** Asks the sources for their tools. Rejects only when it is cancelled. */
  readonly look = async (cancellation: Cancellation): Promise<SourcesLook> => {
    const base = this.#base()
    const open = base.toolSources.map(this.#connect)
    await Promise.all(open.map((source) => source.ready(cancellation)))
    const listings = new Map(open.map((source) => [source.source.source, source.listing()]))
    const change = this.#changeTo(base, listings)
    const taken = change === undefined ? this.#taken : afterChange(this.#taken, change)
    const news = this.#untold([...listings].map(([source, listing]) => infoOf(source, listing, taken)))
    const notUp = [...listings].flatMap(([source, { isUp }]) => (isUp ? [] : [source]))
    if (change === undefined) return { change, definition: this.definition, news, notUp }
    return { change, definition: withTaken(base, taken, this.#connect), news, notUp }
  }

  #changeTo(base: AgentDefinition, listings: ReadonlyMap<string, Listing>): ToolsChange | undefined {
    const parts = [...listings.values()].flatMap(({ tools, instructions, isUp }) => [tools, instructions, isUp])
    const seen = [base, this.#taken, ...parts]
    if (seen.length === this.#seen.length && seen.every((part, index) => part === this.#seen[index])) return undefined
    const { listings: takeable, names } = withDeferred(base, listings)
    const change = changeOf(this.#taken, new Set([...namesIn(base), ...names]), takeable)
    this.#seen = change === undefined ? seen : []
    return change
  }

  #untold(infos: readonly SourceInfo[]): SourceInfo[] {
    return infos.filter((info) => {
      const now = JSON.stringify(info)
      const before = this.#told.get(info.source)
      this.#told.set(info.source, now)
      return now !== before
    })
  }
}

const infoOf = (source: string, { state, trouble }: Listing, taken: TakenTools): SourceInfo => ({
  source,
  state,
  ...(trouble === undefined ? {} : { trouble }),
  tools: namesOf(taken, source),
})

const namesIn = ({ toolSpecs }: AgentDefinition): readonly string[] => toolSpecs.map(({ name }) => name)

/** Returns the definition with the tools and instructions taken from its sources, after everything that is its own. */
function withTaken(base: AgentDefinition, { tools, instructions }: TakenTools, connect: Connect): AgentDefinition {
  const sources = new Map(base.toolSources.map((source) => [source.source, source]))
  const fixed = new Set([...namesIn(base), ...(base.deferred?.names ?? [])])
  const taken = [...tools.values()].flatMap((offer) => {
    const source = sources.get(offer.source)
    const isFree = !fixed.has(offer.name) && !isReserved(offer.name)
    return source === undefined || !isFree ? [] : [new SourceTool(offer, () => connect(source))]
  })
  const { deferred, pair } = deferredOf(
    base,
    taken.map(({ offer }) => offer),
  )
  const all = new Map<string, AnyTool>([...base.tools, ...pair.map((tool) => [tool.name, tool] as const)])
  // No tool of a source takes the place of one of the pair.
  for (const tool of taken) if (!pair.some(({ name }) => name === tool.name)) all.set(tool.name, tool)
  const said = [...sources.keys()].flatMap((source) => instructions.get(source) ?? [])
  const addendum = said.join('\n\n')
  const { policy } = base
  return definedAgent(
    {
      ...base,
      tools: all,
      deferred,
      addendum,
      system: withAddendum(base.system, addendum),
      settings: withPossibleChoice(
        base.settings,
        [...all.keys(), ...namesIn(base)].filter((name) => deferred?.names.has(name) !== true),
      ),
      policy: {
        ...policy,
        irreversible: irreversibleNames(all, base.agents),
        reversible: reversibleNames(all),
        polling: base.braking?.stall == null ? policy.polling : [...new Set([...policy.polling, ...pollingNames(all)])],
      },
    },
    () => base.agents,
    () => base.handoffs,
  )
}
