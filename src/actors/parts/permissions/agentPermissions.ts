import type { GrantedRule } from '../../../protocol/parts/permissions/permissionState.ts'
import type { PermissionMode } from '../../../protocol/parts/permissions/permissionModes.ts'
import type { RuleLists } from './decideCall.ts'
import type { Rule } from './rules.ts'

/** Rules of one definition that hold for the calls of an agent. */
export interface PermissionLayer extends Omit<RuleLists, 'granted'> {
  readonly mode: PermissionMode
  /** Set if the mode is inherited from the layer before. This layer then decides nothing about a call that no rule covers. */
  readonly inheritsMode?: true
}

/** The layers of the agents above an agent, which hold for its calls too, then its own, and the rules that people added to any of them. */
export interface AgentPermissions {
  readonly layers: readonly PermissionLayer[]
  readonly granted: readonly Rule[]
  readonly denied: readonly Rule[]
  /** The agent's mode, the mode that it has once plan mode ends, and the rules that people added to it. */
  readonly own: {
    readonly mode: PermissionMode
    readonly before: PermissionMode
    readonly grants: readonly GrantedRule[]
  }
}
