import type { AgentDefinition } from '../../actors/agentDefinition.ts'
import { SourcedTools } from '../../actors/sourcedTools.ts'
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

/** `undefined` for an agent that has no source, and is never handed to one that has. */
export function hostedTools(
  own: AgentDefinition,
  sources: Sources,
  base: () => AgentDefinition,
  ...logs: readonly (readonly LogRecord[])[]
): HostedTools | undefined {
  // Most agents have neither.
  if (own.toolSources.length === 0 && own.handoffs.size === 0) return undefined
  const all = [...everyone(own)].flatMap(({ toolSources }) => toolSources)
  if (all.length === 0) return undefined
  sources.know(all)
  return new HostedTools(base, sources, ...logs)
}

/** Who may answer in its conversation. */
function everyone(definition: AgentDefinition): ReadonlySet<AgentDefinition> {
  const all = new Set([definition])
  for (const one of all) for (const next of one.handoffs.values()) all.add(next)
  return all
}
