import { RuntimeError } from '../../../protocol/errors.ts'
import type { ModelSettings } from '../../../protocol/ports/model.ts'
import { toolsOfSet } from '../../tools/aiSdk/aiSdkTools.ts'
import type { AnyTool } from '../../tools/defineTool.ts'
import { isToolSource, type ToolSource } from '../../tools/toolSource.ts'
import { agentPart } from '../agentPart.ts'
import { DeferredTools, type DeferredEntry } from './deferred.ts'
import type { DeferredSetting } from './deferral.ts'
import { pairFor } from './findTools.ts'

/** The definition's own options that groups have to do with. */
interface Grouped {
  readonly tools?: unknown
  readonly settings?: ModelSettings
}

/** Tools that no request lists, and the two that stand for them. */
export const deferredPart = agentPart<object, DeferredSetting>({
  options: {},
  settings: (options, label) => ({ deferred: deferralOf(options, label) }),
  tools: (options) => {
    const groups = groupsOf(options)
    const found = groups.filter(isFound)
    return [
      ...groups.flatMap((group) => membersOf(group, '')),
      ...groups.flatMap((group) => (group.by === undefined ? [] : [group.by.make(membersOf(group, ''))])),
      ...(found.length === 0 ? [] : pairFor(aboutOf(found))),
    ]
  },
})

/** Its tools are found by words, and called with `call_tool`. */
const isFound = ({ by }: DeferredTools): boolean => by === undefined

function deferralOf(options: Grouped, label: string): DeferredSetting['deferred'] {
  const members = groupsOf(options).flatMap((group) => {
    const all = membersOf(group, label)
    return group.by?.isOnly === false ? [] : all
  })
  if (members.length === 0) return null
  const tools = members.filter((member): member is AnyTool => !isToolSource(member))
  const listed = tools.find(({ spec }) => spec?.provider !== undefined)
  if (listed !== undefined)
    throw new RuntimeError(
      'INVALID_DEFINITION',
      `${label}: tools: "${listed.name}" is carried out by the provider, which must be shown it: it cannot be deferred.`,
    )
  const choice = options.settings?.toolChoice
  if (typeof choice === 'object' && tools.some(({ name }) => name === choice.tool))
    throw new RuntimeError(
      'INVALID_DEFINITION',
      `${label}: settings: toolChoice: "${choice.tool}" is deferred, so no request lists it.`,
    )
  return {
    names: new Set(tools.map(({ name }) => name)),
    sources: new Set(members.filter(isToolSource).map(({ source }) => source)),
  }
}

const groupsOf = ({ tools }: Grouped): readonly DeferredTools[] =>
  Array.isArray(tools) ? tools.filter((entry): entry is DeferredTools => entry instanceof DeferredTools) : []

const made = new WeakMap<DeferredTools, readonly (AnyTool | ToolSource)[]>()

/** The tools and sources of a group. */
function membersOf(group: DeferredTools, label: string): readonly (AnyTool | ToolSource)[] {
  const members = made.get(group) ?? group.entries.flatMap((entry) => membersIn(entry, label))
  made.set(group, members)
  return members
}

const membersIn = (entry: DeferredEntry, label: string): readonly (AnyTool | ToolSource)[] =>
  isToolSource(entry) || isTool(entry) ? [entry] : toolsOfSet(entry, {}, `${label}: `)

const isTool = (entry: DeferredEntry): entry is AnyTool => typeof (entry as AnyTool).parse === 'function'

/** Says what there is to be found, from what is known when the agent is defined. */
const aboutOf = (groups: readonly DeferredTools[]): string =>
  groups.map((group) => group.about ?? namesIn(group).join(', ')).join('; ')

const namesIn = (group: DeferredTools): readonly string[] =>
  made.get(group)!.map((member) => (isToolSource(member) ? member.source : member.name))
