import { WaitedFor } from '../../actors/tools/waitForTool.ts'
import type { AgentContext } from '../../machines/agentTypes.ts'
import { textOf } from '../../protocol/messages.ts'
import type { QueuedMessage } from '../../protocol/runs/queue.ts'

type Known = Pick<AgentContext, 'reporters' | 'followUps' | 'steering'>

/** Maximum length of reports in one result in UTF-16 units, apart from the first report. */
const maxChars = 100_000

const isAmong = (agents: readonly string[] | undefined, agentId: string): boolean => agents?.includes(agentId) !== false

/** Returns true if none of the awaited agents works any longer, or a message has come for the agent. Pure. */
export const isOver = ({ reporters, steering }: Known, agents: readonly string[] | undefined): boolean =>
  steering.length > 0 || !reporters.some(({ childId }) => isAmong(agents, childId))

/** Returns the result for the model: the existing reports, as far as they fit, and the agents that still work. Pure. */
export function resultOf({ reporters, followUps, steering }: Known, agents: readonly string[] | undefined): WaitedFor {
  const there = followUps.filter(
    (message) => reporterIn(message) !== undefined && isAmong(agents, reporterIn(message)!),
  )
  const held: QueuedMessage[] = []
  let chars = 0
  for (const message of there) {
    chars += textOf(message.content).length
    if (held.length > 0 && chars > maxChars) break
    held.push(message)
  }
  const working = reporters.filter(({ childId }) => isAmong(agents, childId))
  const later = there.length - held.length
  const lines = [
    ...held.map(({ content }) => textOf(content)),
    ...(held.length > 0 || working.length > 0 ? [] : [nothingNew(reporters, agents)]),
    ...(later === 0 ? [] : [`${later} more have reported: you will read it in messages that follow.`]),
    ...(steering.length > 0 && working.length > 0 ? ['Somebody has spoken to you: that is why this ends early.'] : []),
    ...(working.length === 0 ? [] : [`Still at work: ${names(working)}.`]),
  ]
  return new WaitedFor(
    lines.join('\n\n'),
    held.map(({ id }) => id),
  )
}

const reporterIn = ({ provenance }: QueuedMessage): string | undefined =>
  provenance?.type === 'report' ? provenance.agentId : undefined

const names = (reporters: Known['reporters']): string =>
  reporters.map(({ childId, name }) => `${childId} (${name})`).join(', ')

function nothingNew(reporters: Known['reporters'], agents: readonly string[] | undefined): string {
  if (agents === undefined) return 'No agent is at work for you, and none has reported since.'
  const others = reporters.length === 0 ? 'No agent is' : `Those that are: ${names(reporters)}. No other is`
  return `${agents.join(', ')}: not at work for you, or reported before. ${others} at work for you.`
}
