import type { AgentDefinition } from '../../actors/agentDefinition.ts'
import { SourcedTools, type KeptTaken } from '../../actors/sourcedTools.ts'
import type { ToolSource } from '../../actors/tools/toolSource.ts'
import type { LogRecord } from '../../protocol/records.ts'
import type { Sources } from './sources.ts'

/** The tools that an agent has from sources, and its use of their connections. */
export class HostedTools extends SourcedTools {
  /** Gives the connections up: the agent is gone. */
  readonly leave: () => void

  constructor(base: () => AgentDefinition, sources: Sources, ...logs: readonly (readonly LogRecord[])[]) {
    const user = {}
    super(base, (source) => sources.use(source, user), ...logs)
    this.leave = () => sources.leave(user)
  }
}

/** `undefined` for an agent that has no source, and is never handed to one that has. `kept`: where its records go on from. */
export function hostedTools(
  own: AgentDefinition,
  sources: Sources,
  base: () => AgentDefinition,
  kept: KeptTaken | undefined,
  ...logs: readonly (readonly LogRecord[])[]
): HostedTools | undefined {
  const all = sourcesOf(own)
  if (all.length === 0) return undefined
  sources.know(all)
  const hosted = new HostedTools(base, sources)
  if (kept !== undefined) hosted.restore(kept)
  for (const records of logs) for (const record of records) hosted.apply(record)
  return hosted
}

/** The sources of an agent and of those that it may be handed to. */
export function sourcesOf(own: AgentDefinition): readonly ToolSource[] {
  // Most agents have neither.
  if (own.toolSources.length === 0 && own.handoffs.size === 0) return []
  return [...everyone(own)].flatMap(({ toolSources }) => toolSources)
}

/** Who may answer in its conversation. */
function everyone(definition: AgentDefinition): ReadonlySet<AgentDefinition> {
  const all = new Set([definition])
  for (const one of all) for (const next of one.handoffs.values()) all.add(next)
  return all
}
