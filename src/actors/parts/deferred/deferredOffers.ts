import { callToolName, findToolsName } from '../../../protocol/viaCallTool.ts'
import type { OfferedToolSpec } from '../../../protocol/toolsChange.ts'
import type { AgentDefinition } from '../../define/agentDefinition.ts'
import { outside } from '../../define/outside.ts'
import type { AnyTool } from '../../tools/defineTool.ts'
import type { Listing } from '../../tools/openSource.ts'
import type { Deferral } from './deferral.ts'

type Base = Pick<AgentDefinition, 'deferred' | 'tools' | 'toolSources'>

/** Returns false for a definition whose own tools have the names of the two tools. The tools of its sources are listed then. */
const mayDefer = ({ deferred, tools }: Base): boolean =>
  deferred !== null || !(tools.has(findToolsName) || tools.has(callToolName))

/** Listings in the form that an agent takes, and names that no tool of a source can have. */
interface Takeable {
  readonly listings: ReadonlyMap<string, Listing>
  readonly names: readonly string[]
}

/** Returns the listings of sources, with a mark on the tools that no request of the agent lists. Pure. */
export function withDeferred(base: Base, listings: ReadonlyMap<string, Listing>): Takeable {
  const above = new Map(base.toolSources.map(({ source, deferAbove = Infinity }) => [source, deferAbove]))
  const isMany = (source: string, { tools }: Listing): boolean =>
    base.deferred?.sources.has(source) === true || tools.size > (above.get(source) ?? Infinity)
  const many = mayDefer(base) ? [...listings].filter(([source, listing]) => isMany(source, listing)) : []
  const names = base.deferred === null ? [] : [...base.deferred.names]
  if (many.length === 0) return { listings, names }
  const marked = many.map(([source, listing]) => [source, { ...listing, tools: marksOf(listing) }] as const)
  return { listings: new Map([...listings, ...marked]), names: [...names, findToolsName, callToolName] }
}

/** Returns the tools of a listing marked as deferred, except those that a provider carries out, which it must be shown. */
const marksOf = ({ tools }: Listing): Listing['tools'] =>
  new Map(
    Array.from(tools, ([name, listed]) => [
      name,
      listed.offer.spec?.['provider'] === undefined
        ? { ...listed, offer: { ...listed.offer, deferred: true } }
        : listed,
    ]),
  )

/** Returns the tools that no request lists, including tools taken from sources, and the two tools that they need. Pure. */
export function deferredOf(
  base: Base,
  taken: readonly OfferedToolSpec[],
): { readonly deferred: Deferral | null; readonly pair: readonly AnyTool[] } {
  const offers = mayDefer(base) ? taken.filter(({ deferred }) => deferred === true) : []
  if (offers.length === 0) return { deferred: base.deferred, pair: [] }
  const names = new Set([...(base.deferred?.names ?? []), ...offers.map(({ name }) => name)])
  const sources = new Set(offers.map(({ source }) => source))
  const known = base.deferred?.sources
  const found = new Set([...sources].filter((source) => known?.has(source) !== true))
  // Those of a group have what calls them already.
  const pair = found.size === 0 || base.tools.has(callToolName) ? [] : outside.findingTools!([...found].join(', '))
  return { deferred: { names, sources: new Set([...(known ?? []), ...sources]) }, pair }
}
