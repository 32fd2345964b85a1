import { checkedBy, RuntimeError } from '../../../protocol/errors.ts'
import { lazily } from '../../../protocol/lazily.ts'
import { onlyFields } from '../../../protocol/checks/onlyFields.ts'
import { z } from 'zod'
import type { AiSdkToolSet } from '../../define/outside.ts'
import { elsewhere } from '../../define/agentDefinition.ts'
import { isRemoteAgent } from '../remote/remoteEntry.ts'
import { isSubAgentEntry, type SubAgentEntry } from '../../define/subAgents.ts'
import type { AnyTool } from '../../tools/defineTool.ts'
import type { ToolSource } from '../../tools/toolSource.ts'

/** An entry of a group of deferred tools. */
export type DeferredEntry = AnyTool | ToolSource | AiSdkToolSet

export interface DeferredOptions {
  /** Purpose of the tools in a few words, for the description of `find_tools`. Default: their names, as far as they fit. */
  readonly about?: string
}

/** Tool that calls the tools of a group. */
export interface GroupCaller {
  /** True if requests do not list the tools themselves. */
  readonly isOnly: boolean
  /** Makes the tool for the members of the group. `agents`: the sub-agents of the definition, `undefined` if they are not known yet. */
  make(members: readonly (AnyTool | ToolSource)[], agents: readonly SubAgentEntry[] | undefined): AnyTool
}

/**
 * A group of tools: an entry of an agent's `tools`, made by `deferred` or by a function that has them called in another
 * way. Also a group of sub-agents, for its `agents`.
 */
export class DeferredTools<out Entry extends DeferredEntry | SubAgentEntry = DeferredEntry> {
  readonly entries: readonly Entry[]
  readonly about: string | undefined
  /** Set if another tool calls them instead of `call_tool`. */
  readonly by: GroupCaller | undefined

  constructor(entries: readonly Entry[], about: string | undefined, by?: GroupCaller) {
    this.entries = entries
    this.about = about
    this.by = by
    Object.freeze(this)
  }
}

const optionsSchema = lazily(() =>
  onlyFields({ about: z.string().trim().min(1, 'say it in a few words').max(500).optional() }),
)

/**
 * Keeps tools out of an agent's requests: the model finds them by words with `find_tools` and calls them with `call_tool`. Requests begin with
 * the same bytes however many tools there are or were found, so the prompt cache holds. A call through `call_tool` is a call of the tool itself:
 * hooks, approvals, `effects`, rights, records and every front end see its name and its arguments. An agent may have several groups. A group of
 * sub-agents is for the agent's `agents`.
 *
 * @throws RuntimeError `INVALID_DEFINITION` for an empty group, for a group within a group, and for tools and agents in one group.
 *
 * @example
 * ```ts
 * const search = defineTool({ name: 'search', description: 'Searches orders.', input: z.object({ text: z.string() }), run: () => 'none' })
 * const cancel = defineTool({ name: 'cancel', description: 'Cancels an order.', input: z.object({ id: z.string() }), run: () => 'done' })
 * const clerk = defineAgent({ name: 'clerk', model, tools: [deferred([search, cancel], { about: 'orders of the shop' })] })
 * ```
 */
export function deferred<const Entry extends DeferredEntry>(
  entries: readonly Entry[],
  options?: DeferredOptions,
): DeferredTools<Entry>
export function deferred<const Entry extends SubAgentEntry>(
  entries: readonly Entry[],
  options?: DeferredOptions,
): DeferredTools<Entry>
export function deferred<const Entry extends DeferredEntry | SubAgentEntry>(
  entries: readonly Entry[],
  options: DeferredOptions = {},
): DeferredTools<Entry> {
  const refuse = (what: string): never => {
    throw new RuntimeError('INVALID_DEFINITION', `deferred: ${what}.`)
  }
  if (!Array.isArray(entries)) return refuse('give a list of tools, or of agents')
  if (entries.length === 0) return refuse('the group has no tools: leave it out')
  if (entries.some((entry: unknown) => entry instanceof DeferredTools)) return refuse('a group cannot be in a group')
  const remote = entries.find(isRemoteAgent)
  if (remote !== undefined) return refuse(elsewhere(remote))
  if (entries.some(isSubAgentEntry) && !entries.every(isSubAgentEntry))
    return refuse('a group has tools or agents, not both: make one of each')
  const { about } = checkedBy(optionsSchema(), options, 'deferred', 'INVALID_DEFINITION')
  return new DeferredTools([...entries], about)
}
