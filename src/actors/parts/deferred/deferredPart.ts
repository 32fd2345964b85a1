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
  tools: (options, { deferred }) =>
    deferred === null ? [] : [...membersOf(options, ''), ...pairFor(aboutOf(options))],
})

function deferralOf(options: Grouped, label: string): DeferredSetting['deferred'] {
  const members = membersOf(options, label)
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

/** The tools and sources of all groups. */
const membersOf = (options: Grouped, label: string): readonly (AnyTool | ToolSource)[] =>
  groupsOf(options).flatMap((group) => {
    const members = made.get(group) ?? group.entries.flatMap((entry) => membersIn(entry, label))
    made.set(group, members)
    return members
  })

const membersIn = (entry: DeferredEntry, label: string): readonly (AnyTool | ToolSource)[] =>
  isToolSource(entry) || isTool(entry) ? [entry] : toolsOfSet(entry, {}, `${label}: `)

const isTool = (entry: DeferredEntry): entry is AnyTool => typeof (entry as AnyTool).parse === 'function'

/** Says what there is to be found, from what is known when the agent is defined. */
const aboutOf = (options: Grouped): string =>
  groupsOf(options)
    .map((group) => group.about ?? namesIn(group).join(', '))
    .join('; ')

const namesIn = (group: DeferredTools): readonly string[] =>
  made.get(group)!.map((member) => (isToolSource(member) ? member.source : member.name))
