import { RuntimeError } from '../../../protocol/errors.ts'
import type { ModelSettings } from '../../../protocol/ports/model.ts'
import { outside } from '../../define/outside.ts'
import { isSubAgentEntry, type SubAgentEntry } from '../../define/subAgents.ts'
import type { AnyTool } from '../../tools/defineTool.ts'
import { isToolSource, type ToolSource } from '../../tools/toolSource.ts'
import { agentPart } from '../agentPart.ts'
import { DeferredTools, type DeferredEntry } from './deferred.ts'
import type { DeferredSetting } from './deferral.ts'

/** The definition's own options that groups concern. */
interface Grouped {
  readonly tools?: unknown
  readonly agents?: unknown
  readonly settings?: ModelSettings
}

/** The part for tools and sub-agents that no request lists, and for the two tools that stand for them. */
export const deferredPart = agentPart<object, DeferredSetting>({
  options: {},
  settings: (options, label) => ({ deferred: deferralOf(options, label) }),
  tools: (options) => {
    const groups = groupsOf(options)
    const found = [...groups.filter(isFound), ...agentGroupsOf(options)]
    return [
      ...groups.flatMap((group) => membersOf(group, '')),
      ...groups.flatMap((group) =>
        group.by === undefined ? [] : [group.by.make(membersOf(group, ''), calledIn(options))],
      ),
      ...(found.length === 0 ? [] : outside.findingTools!(aboutOf(found))),
    ]
  },
})

/** Returns true if the tools of a group are found by words, and called with `call_tool`. */
const isFound = ({ by }: DeferredTools): boolean => by === undefined

function deferralOf(options: Grouped, label: string): DeferredSetting['deferred'] {
  const members = groupsOf(options).flatMap((group) => {
    const all = membersOf(group, label)
    return group.by?.isOnly === false ? [] : all
  })
  const groups = agentGroupsOf(options)
  if (!groups.every(({ entries }) => entries.every(isSubAgentEntry)))
    throw new RuntimeError('INVALID_DEFINITION', `${label}: agents: a group of tools is for the option "tools".`)
  const agents = groups.flatMap(namesIn)
  if (members.length === 0 && agents.length === 0) return null
  const tools = members.filter((member): member is AnyTool => !isToolSource(member))
  const listed = tools.find(({ spec }) => spec?.provider !== undefined)
  if (listed !== undefined)
    throw new RuntimeError(
      'INVALID_DEFINITION',
      `${label}: tools: "${listed.name}" is carried out by the provider, which must be shown it: it cannot be deferred.`,
    )
  const choice = options.settings?.toolChoice
  const names = tools.map(({ name }) => name)
  if (typeof choice === 'object' && [...names, ...agents].includes(choice.tool))
    throw new RuntimeError(
      'INVALID_DEFINITION',
      `${label}: settings: toolChoice: "${choice.tool}" is deferred, so no request lists it.`,
    )
  return {
    names: new Set(names),
    sources: new Set(members.filter(isToolSource).map(({ source }) => source)),
  }
}

const groupsIn = (given: unknown): readonly DeferredTools[] =>
  [given].flat().filter((entry): entry is DeferredTools => entry instanceof DeferredTools)

const groupsOf = ({ tools }: Grouped): readonly DeferredTools[] => (Array.isArray(tools) ? groupsIn(tools) : [])

const agentGroupsOf = ({ agents }: Grouped): readonly DeferredTools<SubAgentEntry>[] =>
  groupsIn(agents) as readonly DeferredTools<never>[]

const calledIn = ({ agents }: Grouped): readonly SubAgentEntry[] | undefined =>
  typeof agents === 'function'
    ? undefined
    : [agents ?? []]
        .flat()
        .flatMap((entry: unknown) => (entry instanceof DeferredTools ? entry.entries : [entry]))
        .filter(isSubAgentEntry)

const made = new WeakMap<DeferredTools, readonly (AnyTool | ToolSource)[]>()

function membersOf(group: DeferredTools, label: string): readonly (AnyTool | ToolSource)[] {
  const members = made.get(group) ?? group.entries.flatMap((entry) => membersIn(entry, label))
  made.set(group, members)
  return members
}

const membersIn = (entry: DeferredEntry, label: string): readonly (AnyTool | ToolSource)[] =>
  isToolSource(entry) || isTool(entry) ? [entry] : outside.toolsOf!(entry, `${label}: `)

const isTool = (entry: DeferredEntry): entry is AnyTool => typeof (entry as AnyTool).parse === 'function'

/** Returns a text about the tools to be found, from everything that is known when the agent is defined. */
const aboutOf = (groups: readonly (DeferredTools | DeferredTools<SubAgentEntry>)[]): string =>
  groups.map((group) => group.about ?? namesIn(group).join(', ')).join('; ')

const namesIn = (group: DeferredTools | DeferredTools<SubAgentEntry>): readonly string[] =>
  group.entries.every(isSubAgentEntry)
    ? group.entries.map((entry) => ('definition' in entry ? entry.definition : entry).name)
    : made.get(group as DeferredTools)!.map((member) => (isToolSource(member) ? member.source : member.name))
