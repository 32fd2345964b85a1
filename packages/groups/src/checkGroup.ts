import { z } from 'zod'
import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import {
  elsewhere,
  isAgentDefinition,
  noDefinition,
  type AgentDefinition,
} from '../../../src/actors/define/agentDefinition.ts'
import { isRemoteAgent } from '../../../src/actors/parts/remote/remoteEntry.ts'
import { contentSchema } from '../../../src/protocol/content.ts'
import type { Content } from '../../../src/protocol/text/saidContent.ts'
import { checkedBy, RuntimeError } from '../../../src/protocol/errors.ts'
import { lazily } from '../../../src/protocol/lazily.ts'
import { limitsSchema } from '../../../src/protocol/runs/runLimits.ts'
import { Agent } from '../../../src/runtime/agents/agent.ts'
import type { GroupEntry, GroupHost } from './branch.ts'

/** Maximum agents of one group that are alive at once. */
const maxEntries = 100

const entrySchema = lazily(() =>
  onlyFields({
    definition: z.custom<AgentDefinition>(isAgentDefinition, { error: noDefinition() }),
    context: z.enum(['own', 'fork']).exactOptional(),
    stallMs: z.number().positive().exactOptional(),
  }),
)

/** The options that every group has. */
export const groupOptionsSchema = lazily(() =>
  onlyFields({
    limits: limitsSchema().optional(),
    deps: z.unknown().optional(),
    signal: z.custom<AbortSignal>((value) => value instanceof AbortSignal, 'give an AbortSignal').optional(),
    keep: z.boolean().optional(),
  }),
)

/** @throws RuntimeError `INVALID_OPTION` unless the host is a runtime or an agent, and the options fit. */
export function checkOptions(verb: string, schema: () => z.ZodType, host: GroupHost, options: object): void {
  if (!(host instanceof Agent) && !isRuntime(host))
    throw new RuntimeError('INVALID_OPTION', `${verb} takes a runtime or an agent first.`)
  checkedBy(schema(), options, verb)
}

const isRuntime = (host: unknown): boolean =>
  typeof host === 'object' &&
  host !== null &&
  ['spawn', 'agents', 'resume'].every((name) => typeof Reflect.get(host, name) === 'function')

/**
 * Checks the entries of a group. `mayBeMany`: their agents are not all alive at once.
 *
 * @throws RuntimeError `INVALID_OPTION`: none, too many, or options that need a parent; `INVALID_DEFINITION`.
 */
export function checkEntries(verb: string, host: GroupHost, entries: readonly GroupEntry[], mayBeMany = false): void {
  if (!Array.isArray(entries) || entries.length === 0)
    throw new RuntimeError('INVALID_OPTION', `${verb} takes a list of at least one agent.`)
  if (entries.length > maxEntries && !mayBeMany)
    throw new RuntimeError('INVALID_OPTION', `${verb}: ${entries.length} agents; ${maxEntries} is the most allowed.`)
  for (const [index, entry] of entries.entries()) {
    if (isAgentDefinition(entry)) continue
    const at = `${verb}: agent ${index + 1}`
    if (isRemoteAgent(entry)) throw new RuntimeError('INVALID_DEFINITION', `${at}: ${elsewhere(entry)}.`)
    checkedBy(entrySchema(), entry, at, 'INVALID_DEFINITION')
    if (!(host instanceof Agent))
      throw new RuntimeError(
        'INVALID_OPTION',
        `${at}: context and stallMs need a parent: give an agent, not a runtime.`,
      )
  }
}

/** @throws RuntimeError `CHILD_REFUSED` if the host may not have that many more children. */
export function checkRoom(verb: string, host: GroupHost, needed: number): void {
  if (!(host instanceof Agent) || needed <= host.room) return
  const what = `${verb} needs ${needed} sub-agents of agent "${host.id}", which may have ${host.room} more`
  throw new RuntimeError('CHILD_REFUSED', `${what}; nothing was begun.`)
}

/** Converts a prompt to blocks. @throws RuntimeError `INVALID_CONTENT` */
export function checkContent(verb: string, content: Content): z.output<ReturnType<typeof contentSchema>> {
  return checkedBy(contentSchema(), content, verb, 'INVALID_CONTENT')
}
