import type { AgentPermissions, PermissionLayer } from '../../actors/parts/permissions/judgeCall.ts'
import type { AgentDefinition } from '../../actors/define/agentDefinition.ts'

interface Governed {
  readonly parent: Governed | undefined
  readonly view: { readonly definition: Pick<AgentDefinition, 'permissions'> }
}

/** Returns what rules say about an agent's calls now, those of the agents above it included; `undefined` if there are none. */
export function permissionsOf(agent: Governed): AgentPermissions | undefined {
  const layers = layersOf(agent)
  return layers.length === 0 ? undefined : { layers }
}

/** The layers of the agents above come first: what they say of the mode is inherited. */
function layersOf({ parent, view }: Governed): readonly PermissionLayer[] {
  const above = parent === undefined ? none : layersOf(parent)
  const own = view.definition.permissions
  if (own.length === 0) return above
  const inherited = above.at(-1)?.mode ?? 'ask'
  return [...above, ...own.map(({ mode = inherited, ...rules }) => ({ ...rules, mode, granted: none }))]
}

const none: readonly never[] = Object.freeze([])
