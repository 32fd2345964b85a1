import type { GrantedRule } from '../../../protocol/parts/permissions/permissionState.ts'
import type { PermissionMode } from '../../../protocol/parts/permissions/permissionModes.ts'
import type { RuleLists } from './decideCall.ts'
import type { Rule } from './rules.ts'

/** Rules that hold for the calls of an agent: those of one definition. */
export interface PermissionLayer extends Omit<RuleLists, 'granted'> {
  readonly mode: PermissionMode
  /** Set if the mode is that of the layer before: where no rule is about a call, this layer says nothing. */
  readonly inheritsMode?: true
}

/** The layers of an agent after those of the agents above it, which hold for its calls too, and what people added to any of them. */
export interface AgentPermissions {
  readonly layers: readonly PermissionLayer[]
  readonly granted: readonly Rule[]
  readonly denied: readonly Rule[]
  /** The agent's mode, the one that it has once plan mode ends, and the rules that people added to it. */
  readonly own: {
    readonly mode: PermissionMode
    readonly before: PermissionMode
    readonly grants: readonly GrantedRule[]
  }
}
