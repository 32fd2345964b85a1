import type { AgentDefinition } from '../../actors/define/agentDefinition.ts'
import { SourcedTools } from '../../actors/define/sourcedTools.ts'
import type { ToolSource } from '../../actors/tools/toolSource.ts'
import { takenFold } from '../../conversation/tree/takenTools.ts'
import type { Folding } from '../../log/fold.ts'
import type { Sources } from './sources.ts'

/** The tools that an agent has from sources, and its use of their connections. */
export class HostedTools extends SourcedTools {
  /** Gives up the connections, when the agent is gone. */
  readonly leave: () => void

  constructor(base: () => AgentDefinition, sources: Sources, folds: Folding) {
    const user = {}
    super(base, (source) => sources.use(source, user), folds.at(takenFold))
    this.leave = () => sources.leave(user)
  }
}

/**
 * Returns an agent's tools from sources; `undefined` for an agent that has no source and is never handed to a
 * definition with one. `folds`: the folds of the agent's log.
 */
export function hostedTools(
  own: AgentDefinition,
  sources: Sources,
  base: () => AgentDefinition,
  folds: Folding,
): HostedTools | undefined {
  const all = sourcesOf(own)
  if (all.length === 0) return undefined
  sources.know(all)
  return new HostedTools(base, sources, folds)
}

/** Returns the tool sources of an agent's definition and of those that it may be handed to. */
export function sourcesOf(own: AgentDefinition): readonly ToolSource[] {
  // Most agents have neither.
  if (own.toolSources.length === 0 && own.handoffs.size === 0) return []
  return [...everyone(own)].flatMap(({ toolSources }) => toolSources)
}

/** Returns all definitions that may answer in an agent's conversation. */
function everyone(definition: AgentDefinition): ReadonlySet<AgentDefinition> {
  const all = new Set([definition])
  for (const one of all) for (const next of one.handoffs.values()) all.add(next)
  return all
}
