import type { TakenTools } from '../../conversation/tree/takenTools.ts'
import type { OfferedToolSpec, ToolsChange } from '../../protocol/toolsChange.ts'
import { parts } from '../parts/parts.ts'
import type { Listing } from '../tools/openSource.ts'
import { namesFor } from '../tools/toolName.ts'
import { waitForName } from '../tools/waitForTool.ts'

/** Names of the runtime's tools in any definition. A tool of a source would be taken for the runtime's tool of the same name. */
const reserved: ReadonlySet<string> = new Set([waitForName, ...parts.flatMap(({ toolNames = [] }) => toolNames)])

/** Returns true if a tool of a source cannot have the name, apart from the names that the definition itself gives. */
export const isReserved = (name: string): boolean => reserved.has(name) || name.startsWith('transfer_to_')

/**
 * Returns the differences between the tools taken from the sources and those that they have now; `undefined` if there
 * are none. A source that is not up keeps its tools. `fixed`: names that belong to the definition itself. Pure.
 */
export function changeOf(
  taken: TakenTools,
  fixed: ReadonlySet<string>,
  listings: ReadonlyMap<string, Listing>,
): ToolsChange | undefined {
  const known = [...taken.tools.values()]
  const isFree = (name: string): boolean => !fixed.has(name) && !isReserved(name)
  const own = ({ name, ownName = name }: OfferedToolSpec): string => ownName
  const nowOf = (tool: OfferedToolSpec) => listings.get(tool.source)?.tools.get(own(tool))
  const stays = (tool: OfferedToolSpec): boolean => {
    const listing = listings.get(tool.source)
    return listing !== undefined && isFree(tool.name) && (!listing.isUp || nowOf(tool) !== undefined)
  }
  const kept = known.filter(stays)
  const names = new Set(kept.map(({ name }) => name))
  const at = new Set(kept.map((tool) => `${tool.source} ${own(tool)}`))
  const added: OfferedToolSpec[] = []
  for (const tool of kept) {
    const { name, ownName, source } = tool
    const listing = listings.get(source)!
    const now = listing.isUp ? nowOf(tool)!.offer : undefined
    if (now === undefined) continue
    const offer = ownName === undefined ? now : { ...now, name, ownName }
    if (JSON.stringify(inOrder(offer)) !== JSON.stringify(inOrder(tool))) added.push(offer)
  }
  for (const [source, { tools, isUp }] of listings) {
    if (!isUp) continue
    for (const [ownName, { offer }] of tools) {
      if (at.has(`${source} ${ownName}`)) continue
      const name = firstFree(source, ownName, (one) => isFree(one) && !names.has(one))
      names.add(name)
      added.push(name === ownName ? offer : { ...offer, name, ownName })
    }
  }
  const removed = known.filter((tool) => !stays(tool)).map(({ name }) => name)
  const instructions = changedTexts(taken.instructions, listings)
  if (added.length + removed.length + instructions.length === 0) return undefined
  const trouble = troubleOf(listings)
  return {
    added,
    removed,
    ...(instructions.length === 0 ? {} : { instructions }),
    ...(trouble.length === 0 ? {} : { trouble }),
  }
}

/** Returns the spec with its fields in the order of the specs that it is compared with. */
function inOrder(tool: OfferedToolSpec): OfferedToolSpec {
  const { name, description, inputSchema, spec, effects, approval, polls, deferred, source, ownName } = tool
  return {
    name,
    description,
    inputSchema,
    ...(spec === undefined ? {} : { spec }),
    effects,
    approval,
    ...(polls === undefined ? {} : { polls }),
    source,
    ...(ownName === undefined ? {} : { ownName }),
    ...(deferred === undefined ? {} : { deferred }),
  }
}

function firstFree(source: string, ownName: string, isFree: (name: string) => boolean): string {
  for (const name of namesFor(source, ownName)) if (isFree(name)) return name
  throw new Error('Names do not come to an end.')
}

function changedTexts(
  before: TakenTools['instructions'],
  listings: ReadonlyMap<string, Listing>,
): NonNullable<ToolsChange['instructions']> {
  const gone = [...before.keys()].filter((source) => !listings.has(source)).map((source) => ({ source, text: '' }))
  const now = [...listings].flatMap(([source, { instructions: text, isUp }]) =>
    isUp && text !== undefined && text !== (before.get(source) ?? '') ? [{ source, text }] : [],
  )
  return [...gone, ...now]
}

/** Returns the problem of each source that has one. */
const troubleOf = (listings: ReadonlyMap<string, Listing>): NonNullable<ToolsChange['trouble']> =>
  [...listings].flatMap(([source, { trouble: message }]) => (message === undefined ? [] : [{ source, message }]))
